import { type Command, Option } from "commander";

import { systemClock } from "../base/clock.ts";
import type { FlightPlan } from "../booking/flight.ts";
import {
  type ImportedLine,
  type ImportFormat,
  readFlightPlans,
} from "../booking/flights/flight-plans.ts";
import { importFlights } from "../booking/flights/import-flights.ts";
import { readConfig } from "../config/config.ts";

import { example } from "./arguments.ts";
import { useDatabase } from "./database.ts";
import { inputFrom } from "./input.ts";
import { counted, UsageError } from "./output.ts";
import { progress } from "./progress.ts";

interface ImportOptions {
  readonly format?: ImportFormat;
  readonly skipBad?: boolean;
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
  { format, skipBad = false }: ImportOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const { flights, badLines: unreadable } = await readAll(file, format ?? formatOf(file));
  if (unreadable > 0 && !skipBad) {
    throw new Error(
      `${counted(unreadable, "bad line")}: nothing was imported. Correct them, or skip them with --skip-bad`,
    );
  }
  const skipped = await useDatabase(config, (storage) =>
    importFlights(storage, flights, new Date(systemClock.now()), { skipBad }),
  );
  for (const { line, error } of skipped.slice(0, maxPrintedLines)) {
    console.error(`line ${line}: ${error}`);
  }
  const badLines = unreadable + skipped.length;
  const suffix = badLines > 0 ? `, ${counted(badLines, "bad line")} skipped` : "";
  console.log(`${counted(flights.length - skipped.length, "flight")} imported${suffix}`);
}

type FlightLine = Extract<ImportedLine, { readonly plan: FlightPlan }>;

async function readAll(
  file: string,
  format: ImportFormat | null,
): Promise<{ flights: FlightLine[]; badLines: number }> {
  const source = await inputFrom(file);
  const bar = progress("reading", file === "-" ? null : source.size);
  const flights: FlightLine[] = [];
  let badLines = 0;
  for await (const line of readFlightPlans(source.stream(), format)) {
    if ("plan" in line) {
      flights.push(line);
    } else {
      badLines += 1;
      if (badLines <= maxPrintedLines) bar.print(`line ${line.line}: ${line.error}`);
    }
    bar.at(line.bytesRead, `${flights.length} flights`, [flights.length, "flights"]);
  }
  bar.end();
  return { flights, badLines };
}

/** The format by the file's extension; null if that does not tell. */
function formatOf(file: string): ImportFormat | null {
  if (/\.json$/i.test(file)) {
    throw new UsageError(`${file} may be JSON or NDJSON: name the format with --format`);
  }
  if (/\.csv$/i.test(file)) return "csv";
  return /\.(?:ndjson|jsonl)$/i.test(file) ? "ndjson" : null;
}
