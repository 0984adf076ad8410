import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { builtCommit } from "../../scripts/build.ts";

import type { LongRun } from "./long-run.ts";

/** What `bun run` runs each night: all of which CI takes samples, and searches with the date as seed. */
const tests = ["test:depth", "test:slow", "test:postgres"];
const searches = [
  "crash --rounds 20",
  "crash --destinations --rounds 4",
  "crash --power-cut --images 500",
  "fuzz --minutes 5",
  "fuzz --attacks",
  "fuzz --planted",
  "model --rounds 20",
  "histories --rounds 2",
  "histories --planted",
  "mutants",
  "reads",
  "transports --deliveries 2000",
];

/** A table with a row for each night, the last one at its end. */
const records = join(import.meta.dir, "nightly.md");

export const nightly: LongRun = {
  name: "nightly",
  about: "runs all tests and searches, one after the other, and records when",
  description: `Runs all cases of properties, and searches with the date as seed:
${[...tests, ...searches].map((command) => `  bun run ${command}`).join("\n")}

Adds a row to test/slow/nightly.md, and ends with 1 if one finds something.`,
  flags: { last: { takes: "nothing", about: "prints when it last ran, and runs nothing" } },

  async run(options) {
    if (options.has("last")) {
      console.log(lastRecord());
      return true;
    }
    const startedMs = Date.now();
    const date = new Date(startedMs).toISOString().slice(0, 10);
    const seeded = searches.map((search) => `${search} --seed ${date.replaceAll("-", "")}`);
    const found: string[] = [];
    for (const command of [...tests, ...seeded]) {
      console.log(`== ${command}`);
      if (!(await passes(command))) found.push(command);
    }
    const minutes = Math.round((Date.now() - startedMs) / 60_000);
    const result = found.length === 0 ? "nothing" : found.join(", ");
    appendFileSync(records, `| ${date} | ${builtCommit()} | ${minutes} | ${result} |\n`);
    console.log(lastRecord());
    return found.length === 0;
  },
};

async function passes(command: string): Promise<boolean> {
  const child = Bun.spawn([process.execPath, "run", ...command.split(" ")], {
    env: { ...process.env, FULL_PROPERTIES: "1" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return (await child.exited) === 0;
}

function lastRecord(): string {
  const row = readFileSync(records, "utf8").trimEnd().split("\n").at(-1) ?? "";
  const [date = "", commit = "", minutes = "", found = ""] = row
    .split("|")
    .slice(1)
    .map((cell) => cell.trim());
  if (!/^\d{4}-/.test(date)) return "The tests and searches of `bun run nightly` have not run yet.";
  const days = Math.floor((Date.now() - Date.parse(date)) / 86_400_000);
  return `Last night: ${days} days ago (${date}), commit ${commit}, ${minutes} min, found ${found}.`;
}
