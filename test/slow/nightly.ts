import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { builtCommit } from "../../scripts/build.ts";

import type { LongRun } from "./long-run.ts";

/** What `bun run long` runs each night, with the date as seed. */
const searches: readonly (readonly string[])[] = [
  ["crash", "--rounds", "20"],
  ["crash", "--power-cut", "--images", "500"],
  ["fuzz", "--minutes", "5"],
  ["fuzz", "--attacks"],
  ["fuzz", "--planted"],
  ["model", "--runs", "20"],
  ["histories", "--rounds", "2"],
  ["histories", "--planted"],
  ["mutants"],
  ["reads"],
  ["transports", "--deliveries", "2000"],
];

/** A table with a row for each night, the last one at its end. */
const records = join(import.meta.dir, "nightly.md");

export const nightly: LongRun = {
  name: "nightly",
  about: "runs all searches, one after the other, and records when",
  description: `Runs, with the date as seed:
${searches.map((search) => `  bun run ${search.join(" ")}`).join("\n")}

Adds a row to test/slow/nightly.md, and ends with 1 if a search finds something.`,
  flags: { last: { takes: "nothing", about: "prints when it last ran, and runs nothing" } },

  async run(options) {
    if (options.has("last")) {
      console.log(lastRecord());
      return true;
    }
    const startedMs = Date.now();
    const date = new Date(startedMs).toISOString().slice(0, 10);
    const found: string[] = [];
    for (const search of searches) {
      console.log(`== ${search.join(" ")}`);
      if (!(await passes([...search, "--seed", date.replaceAll("-", "")]))) {
        found.push(search.join(" "));
      }
    }
    const minutes = Math.round((Date.now() - startedMs) / 60_000);
    const result = found.length === 0 ? "nothing" : found.join(", ");
    appendFileSync(records, `| ${date} | ${builtCommit()} | ${minutes} | ${result} |\n`);
    console.log(lastRecord());
    return found.length === 0;
  },
};

async function passes(args: readonly string[]): Promise<boolean> {
  const command = [process.execPath, join(import.meta.dir, "long.ts"), ...args];
  const child = Bun.spawn(command, { stdio: ["ignore", "inherit", "inherit"] });
  return (await child.exited) === 0;
}

function lastRecord(): string {
  const row = readFileSync(records, "utf8").trimEnd().split("\n").at(-1) ?? "";
  const [date = "", commit = "", minutes = "", found = ""] = row
    .split("|")
    .slice(1)
    .map((cell) => cell.trim());
  if (!/^\d{4}-/.test(date)) return "The searches of bun run nightly have not run yet.";
  return `${date}: the searches of bun run nightly took ${minutes} min on commit ${commit} and found ${found}.`;
}
