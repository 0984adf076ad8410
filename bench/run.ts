import { join } from "node:path";
import { parseArgs } from "node:util";

import { leastMicros } from "./contestants.ts";
import { delivery } from "./delivery.ts";
import { graphql } from "./graphql.ts";
import { ingest } from "./ingest.ts";
import { life } from "./life.ts";
import { median } from "./measure.ts";
import { memory } from "./memory.ts";
import { rest } from "./rest.ts";
import { resultsWith } from "./results.ts";
import { start } from "./start.ts";
import type { Options, Suite } from "./suite.ts";

/** In the order of the goals. */
const suites: readonly Suite[] = [ingest, life, delivery, memory, start, rest, graphql];

const usage = `Usage: bun run bench [suite] [options]

Without a suite, runs all suites one after the other, which takes about forty minutes.

Suites
${suites.map(({ name, about }) => `  ${name.padEnd(18)} ${about}`).join("\n")}

Options
  --rounds N         rounds in which the contestants alternate (5)
  --seconds N        duration of a timed run (3)
  --connections N    connections with one request in flight on each (64)
  --rows N           length of the list that \`rest\` reads pages of (2,000,000)
  --full             same as --rows 10000000: takes minutes and 10 GB of disk space
  --quick            2 rounds of 1 s for a smoke test; does not change RESULTS.md
  --help             print this text`;

const results = Bun.file(join(import.meta.dir, "RESULTS.md"));

type Given = Readonly<Record<string, string | boolean | undefined>>;

/** The bounds prevent a typing error from filling the disk. */
function readOptions(given: Given): Options {
  const quick = given["quick"] === true;
  const number = (name: string, fallback: number, max: number, min = 1): number => {
    const value = Number(given[name] ?? fallback);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new Error(`--${name} must be a whole number from ${min} to ${max}`);
  };
  return {
    rounds: number("rounds", quick ? 2 : 5, 50),
    seconds: number("seconds", quick ? 1 : 3, 30),
    warmUp: quick ? 500 : 15_000,
    connections: number("connections", 64, 1_024),
    rows: number(
      "rows",
      given["full"] === true ? 10_000_000 : quick ? 100_000 : 2_000_000,
      20_000_000,
      1_000,
    ),
    isTrial: quick,
  };
}

/** The named suites, or all suites without a name. Throws for an unknown name. */
function chooseSuites(names: readonly string[]): readonly Suite[] {
  if (names.length === 0) return suites;
  return names.map((name) => {
    const suite = suites.find((candidate) => candidate.name === name);
    if (suite === undefined)
      throw new Error(`Unknown suite "${name}". Run with --help for a list.`);
    return suite;
  });
}

// The exit handlers stop servers and delete folders of an aborted run.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      seconds: { type: "string" },
      connections: { type: "string" },
      rows: { type: "string" },
      full: { type: "boolean" },
      quick: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  const chosen = chooseSuites(positionals);
  const suiteOptions = readOptions(values);
  for (const suite of values.help === true ? [] : chosen) {
    console.log(`== ${suite.name}: ${suite.about}`);
    const report = await suite.run(suiteOptions);
    const { U = [await leastMicros(suiteOptions)] } = report.figures;
    console.log(resultsWith("", suite.name, report, median(U)));
    if (suiteOptions.isTrial) continue;
    const before = (await results.exists()) ? await results.text() : "";
    await Bun.write(results, resultsWith(before, suite.name, report, median(U)));
  }
  if (values.help === true) console.log(usage);
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
// Servers of a failed run may still be there. The exit handlers stop them.
process.exit();
