import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type Readings, shortReadings } from "../../bench/gate.ts";
import { builtCommit } from "../../scripts/build.ts";

import type { LongRun } from "./long-run.ts";
import { beyondLast, nightsOf, rowOf } from "./nights.ts";

/** What `bun run` runs each night: all of which CI takes samples, and searches with the date as seed. */
const tests = ["test:depth", "test:slow", "test:postgres", "postgres18"];
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
  about: "measures speed, runs all tests and searches, one after the other, and records when",
  description: `Measures I1, E1 and M1 of bench/RESULTS.md in short form, and compares them with the last night. Then runs all
cases of properties, and searches with the date as seed:
${[...tests, ...searches].map((command) => `  bun run ${command}`).join("\n")}

Adds a row to test/slow/nightly.md, and ends with 1 if one finds something, or a goal is beyond 1.15 times its last value.`,
  flags: {
    last: { takes: "nothing", about: "prints when it last ran, and runs nothing" },
    gate: { takes: "nothing", about: "only measures and compares, and adds no row" },
  },

  async run(options) {
    if (options.has("last")) {
      console.log(lastRecord());
      return true;
    }
    const startedMs = Date.now();
    const { readings, found } = await gate();
    if (options.has("gate")) return found.length === 0;
    const date = new Date(startedMs).toISOString().slice(0, 10);
    const seeded = searches.map((search) => `${search} --seed ${date.replaceAll("-", "")}`);
    for (const command of [...tests, ...seeded]) {
      console.log(`== ${command}`);
      if (!(await passes(command))) found.push(command);
    }
    const minutes = Math.round((Date.now() - startedMs) / 60_000);
    const result = found.length === 0 ? "nothing" : found.join(", ");
    const night = { date, commit: builtCommit(), minutes, readings, found: result };
    appendFileSync(records, rowOf(night));
    console.log(lastRecord());
    return found.length === 0;
  },
};

/** Measures before the tests do, which leave the machine's caches and disk busy. */
async function gate(): Promise<{ readonly readings: Readings; readonly found: string[] }> {
  // An aborted run stops its servers as the process exits.
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  try {
    const readings = await shortReadings();
    const found = [...beyondLast(readings, nightsOf(readFileSync(records, "utf8")))];
    console.log(
      `${JSON.stringify(readings)}: ${found.join(", ") || "nothing beyond the last night"}`,
    );
    return { readings, found };
  } catch (error) {
    console.error(error);
    return { readings: {}, found: ["the benchmark failed"] };
  }
}

async function passes(command: string): Promise<boolean> {
  const child = Bun.spawn([process.execPath, "run", ...command.split(" ")], {
    env: { ...process.env, FULL_PROPERTIES: "1" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return (await child.exited) === 0;
}

function lastRecord(): string {
  const night = nightsOf(readFileSync(records, "utf8")).at(-1);
  if (night === undefined) return "The tests and searches of `bun run nightly` have not run yet.";
  const { date, commit, minutes, found } = night;
  const days = Math.floor((Date.now() - Date.parse(date)) / 86_400_000);
  return `Last night: ${days} days ago (${date}), commit ${commit}, ${minutes} min, found ${found}.`;
}
