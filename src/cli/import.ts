import { type Command, Option } from "commander";

import { systemClock } from "../base/clock.ts";
import { readConfig } from "../config/config.ts";
import type { FlightPlan } from "../booking/flight.ts";
import { importFlights } from "../booking/flights/import-flights.ts";
import { type ImportFormat, readFlightPlans } from "../booking/flights/flight-plans.ts";

import { example } from "./arguments.ts";
import { useDatabase } from "./database.ts";
import { inputFrom } from "./input.ts";
import { counted, UsageError } from "./output.ts";
import { progress } from "./progress.ts";

interface ImportOptions {
  readonly format?: ImportFormat;
  readonly skipBad?: true;
}

/** Further invalid lines are counted but not printed. */
const maxPrintedLines = 20;

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("import")
    .description("add or update flights from CSV or NDJSON")
    .argument("<file>", "CSV or NDJSON; - for standard input")
    .addOption(
      new Option(
        "--format <format>",
        "default: by the file's extension, else ndjson if the input starts with {",
      ).choices(["csv", "ndjson"]),
    )
    .option("--skip-bad", "skip invalid lines; without it, one invalid line stops the import")
    .addHelpText("after", example("skyhook import flights.csv"))
    .action((file: string, options: ImportOptions) => importCommand(file, options, env));
}

/**
 * `skyhook import`: reads all lines, then writes all flights in one transaction. Invalid lines are printed; if
 * there is one, nothing is imported, unless invalid lines are to be skipped.
 */
export async function importCommand(
  file: string,
  { format, skipBad }: ImportOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const { plans, badLines } = await readAll(file, format ?? formatOf(file));
  if (badLines > 0 && skipBad === undefined) {
    throw new Error(
      `${counted(badLines, "bad line")}: nothing was imported. Correct them, or skip them with --skip-bad`,
    );
  }
  const count = await useDatabase(config, (storage) =>
    importFlights(storage, plans, new Date(systemClock.now())),
  );
  const skipped = badLines > 0 ? `, ${counted(badLines, "bad line")} skipped` : "";
  console.log(`${counted(count, "flight")} imported${skipped}`);
}

async function readAll(
  file: string,
  format: ImportFormat | null,
): Promise<{ plans: FlightPlan[]; badLines: number }> {
  const source = await inputFrom(file);
  const bar = progress("reading", file === "-" ? null : source.size);
  const plans: FlightPlan[] = [];
  let badLines = 0;
  for await (const line of readFlightPlans(source.stream(), format)) {
    if ("plan" in line) {
      plans.push(line.plan);
    } else {
      badLines += 1;
      if (badLines <= maxPrintedLines) bar.print(`line ${line.line}: ${line.error}`);
    }
    bar.at(line.bytesRead, `${plans.length} flights`);
  }
  bar.end();
  return { plans, badLines };
}

/** The format by the file's extension; null if that does not tell. */
function formatOf(file: string): ImportFormat | null {
  if (/\.json$/i.test(file)) {
    throw new UsageError(`${file} may be JSON or NDJSON: name the format with --format`);
  }
  if (/\.csv$/i.test(file)) return "csv";
  return /\.(?:ndjson|jsonl)$/i.test(file) ? "ndjson" : null;
}
