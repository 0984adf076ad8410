import { type Command, Option } from "commander";

import { systemClock } from "../../base/clock.ts";
import { endOutdatedOffers } from "../../booking/changes/ended-offers.ts";
import { type ImportFormat, readFlightPlans } from "../../booking/flights/import/flight-plans.ts";
import { importFlights } from "../../booking/flights/import/import-flights.ts";
import type { FlightLine } from "../../booking/flights/import/planned-changes.ts";
import { readConfig } from "../../config/config.ts";
import { configurePlaces } from "../../config/places.ts";
import { example } from "../kit/arguments.ts";
import { useDatabase } from "../kit/database.ts";
import { inputFrom } from "../kit/input.ts";
import { counted, note, UsageError } from "../kit/output.ts";
import { type Progress, progress } from "../kit/progress.ts";

interface ImportOptions {
  readonly format?: ImportFormat;
  readonly skipBad?: boolean;
}

/** Further errors are counted but not printed, nor are further lines with the same error. */
const maxErrors = 20;
const maxLinesOfError = 5;
/** The pause after each transaction, in which a server can write. */
const restMs = 25;

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("import")
    .description("add, update, move or cancel flights from CSV or NDJSON")
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
 * `skyhook import`: reads and checks all lines, then writes the flights. Prints what is wrong and in which lines; if
 * a line is invalid, nothing is imported, unless invalid lines are to be skipped.
 */
export async function importCommand(
  file: string,
  { format, skipBad = false }: ImportOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  configurePlaces(config);
  const { flights, bad } = await readAll(file, format ?? formatOf(file));
  if (bad.count > 0 && !skipBad) {
    bad.print();
    throw new Error(
      `${counted(bad.count, "bad line")}: nothing was imported, nor ${flights.length === 1 ? "was" : "were"} ${counted(flights.length, "good line")}. Correct them, or skip them with --skip-bad`,
    );
  }
  const checking = steps("Checking 2/3");
  const writing = steps("Writing 3/3");
  const afterStep = async (done: number, all: number) => {
    writing.at(done, all);
    await Bun.sleep(restMs);
  };
  const options = {
    skipBad,
    afterStep,
    onChecked: (done: number, all: number) => checking.at(done, all),
  };
  const { skipped, changed, cancelled, warnings } = await useDatabase(config, (storage) =>
    importFlights(
      { storage, endOutdated: endOutdatedOffers },
      flights,
      new Date(systemClock.now()),
      options,
    ).finally(() => {
      checking.end();
      writing.end();
    }),
  );
  for (const line of skipped) bad.add(line);
  bad.print();
  for (const warning of warnings.slice(0, maxErrors)) note(`warning: ${warning}`);
  if (warnings.length > maxErrors) note(`warning: and ${warnings.length - maxErrors} more`);
  const suffix = bad.count > 0 ? `, ${counted(bad.count, "bad line")} skipped` : "";
  console.log(`${counted(flights.length - skipped.length, "flight")} imported${suffix}`);
  if (changed + cancelled === 0) return;
  console.log(`${counted(changed, "flight")} changed, ${cancelled} cancelled`);
}

async function readAll(
  file: string,
  format: ImportFormat | null,
): Promise<{ flights: FlightLine[]; bad: BadLines }> {
  const source = await inputFrom(file);
  // The size of what is no file, such as a pipe, is not known.
  const size = file === "-" || source.size === 0 ? null : source.size;
  const bar = progress("Reading 1/3", size);
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, output) {
      bytes += chunk.length;
      output.enqueue(chunk);
    },
  });
  const flights: FlightLine[] = [];
  const bad = badLines();
  for await (const line of readFlightPlans(source.stream().pipeThrough(counter), format)) {
    if ("plan" in line) flights.push(line);
    else bad.add(line);
    bar.at(bytes, `${flights.length} flights`, [flights.length, "flights"]);
  }
  bar.end();
  return { flights, bad };
}

/** The progress of a step whose size is known when it begins. */
function steps(title: string) {
  let bar: Progress | null = null;
  return {
    at(done: number, all: number): void {
      bar ??= progress(title, all);
      bar.at(done, `${done} flights`, [done, "flights"]);
    },
    end: () => bar?.end(),
  };
}

interface BadLines {
  readonly count: number;
  add(bad: { readonly line: number; readonly error: string }): void;
  /** Prints each error once, with its lines. */
  print(): void;
}

function badLines(): BadLines {
  const byError = new Map<string, { lines: number[]; more: number }>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    add({ line, error }) {
      count += 1;
      const known = byError.get(error);
      if (known === undefined) {
        if (byError.size < maxErrors) byError.set(error, { lines: [line], more: 0 });
      } else if (known.lines.length < maxLinesOfError) known.lines.push(line);
      else known.more += 1;
    },
    print() {
      for (const [error, { lines, more }] of byError) {
        const others = more === 0 ? "" : ` and ${more} more`;
        note(`line${lines.length === 1 ? "" : "s"} ${lines.join(", ")}${others}: ${error}`);
      }
    },
  };
}

/** The format by the file's extension; null if that does not tell. */
function formatOf(file: string): ImportFormat | null {
  if (/\.json$/i.test(file)) {
    throw new UsageError(`${file} may be JSON or NDJSON: name the format with --format`);
  }
  if (/\.csv$/i.test(file)) return "csv";
  return /\.(?:ndjson|jsonl)$/i.test(file) ? "ndjson" : null;
}
