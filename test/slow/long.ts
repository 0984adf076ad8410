import { parseArgs } from "node:util";

import { crash } from "./crash/run.ts";
import { fuzz } from "./fuzz/run.ts";
import { histories } from "./histories/run.ts";
import { outages } from "./instances/run.ts";
import type { Flag, LongRun, Options } from "./long-run.ts";
import { model } from "./model/run.ts";
import { mutantsRun } from "./mutants/run.ts";
import { nightly } from "./nightly.ts";
import { postgres18 } from "./postgres18/run.ts";
import { reads } from "./reads/run.ts";
import { transports } from "./transports/run.ts";

const runs: readonly LongRun[] = [
  crash,
  fuzz,
  histories,
  model,
  mutantsRun,
  nightly,
  outages,
  postgres18,
  reads,
  transports,
];

const usage = `Usage: bun run long <run> [options]

Each searches for faults for as long as you like, prints what it finds, and then ends with 1.

Runs
${runs.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join("\n")}

bun run long <run> --help lists the options of one. bun run <run> is the same as bun run long <run>.`;

const usageOf = ({ name, description, flags }: LongRun): string => `Usage: bun run ${name} [options]

${description}

Options
${[...Object.entries(flags).map(lineOf), "  --help                 this text"].join("\n")}`;

function lineOf([name, flag]: readonly [string, Flag]): string {
  const value = { number: " N", text: " NAME", nothing: "" }[flag.takes];
  const usual = flag.takes === "number" ? ` (${flag.usual.toLocaleString("en")})` : "";
  return `  ${`--${name}${value}`.padEnd(22)} ${flag.about}${usual}`;
}

/** Reads what was given; null when it is `--help`. Throws what is wrong with it. */
function readOptions({ flags }: LongRun, args: readonly string[]): Options | null {
  const types = Object.entries(flags).map(([name, { takes }]) => {
    const type = takes === "nothing" ? ("boolean" as const) : ("string" as const);
    return [name, { type }];
  });
  const known = { ...Object.fromEntries(types), help: { type: "boolean" as const } };
  const parsed = parseArgs({ args: [...args], options: known });
  const values: Readonly<Record<string, unknown>> = parsed.values;
  if (values["help"] === true) return null;
  const options: Options = {
    number(name) {
      const flag = flags[name];
      if (flag?.takes !== "number") throw new Error(`--${name} is not a number`);
      const { usual, least, most } = flag;
      const fallback = usual === "random" ? Math.floor(Math.random() * 2 ** 31) : usual;
      const value = Number(values[name] ?? fallback);
      const isWhole = Number.isInteger(value) || name === "minutes";
      if (isWhole && value >= least && value <= most) return value;
      const kind = name === "minutes" ? "number" : "whole number";
      throw new Error(`--${name} must be a ${kind} from ${least} to ${most}`);
    },
    text(name) {
      const value = values[name];
      return typeof value === "string" ? value : undefined;
    },
    has: (name) => values[name] !== undefined,
  };
  // A wrong number is known before anything is started.
  for (const [name, { takes }] of Object.entries(flags))
    if (takes === "number") options.number(name);
  return options;
}

const [name, ...args] = process.argv.slice(2);
const run = runs.find((candidate) => candidate.name === name);
if (run === undefined) {
  console.log(usage);
  if (name !== "--help") process.exitCode = 1;
} else {
  try {
    const options = readOptions(run, args);
    if (options === null) console.log(usageOf(run));
    else if (!(await run.run(options))) process.exitCode = 1;
  } catch (error) {
    console.error(`${run.name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
