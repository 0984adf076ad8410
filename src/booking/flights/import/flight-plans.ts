import { parse } from "papaparse";

import { AppError, badRequest } from "../../../base/errors.ts";
import type { FlightPlan } from "../../model/flight.ts";

import {
  flightChangeKeys,
  flightPlanKeys,
  type PlannedChange,
  readFlightPlan,
  readPlannedChange,
} from "./flight-plan.ts";
import { readLines } from "./lines.ts";

export type ImportFormat = "csv" | "ndjson";

/** The flight plan in one line, with what it changes of a flight that exists, or the error in it. */
export type ImportedLine = {
  /** The line number, from 1. The header counts. */
  readonly line: number;
} & (({ readonly plan: FlightPlan } & PlannedChange) | { readonly error: string });

const maxLineBytes = 10 * 1024;
const maxNamesShown = 10;
const keys: readonly string[] = [...flightPlanKeys, ...flightChangeKeys];

/**
 * Reads flight plans line by line, in constant memory. With the format null, the first line decides: a brace
 * begins an NDJSON object, and never a CSV header. CSV (RFC 4180) has a header row that names the columns, in
 * any order. NDJSON has one object per line with the same keys. An invalid line yields an error and reading
 * continues. An invalid header ends it, because no line can be read without a header.
 *
 * Unlike in RFC 4180, a quoted field cannot contain a line break. No valid field does, and an unclosed quote
 * then affects its own line only, not all that follow.
 */
export async function* readFlightPlans(
  input: ReadableStream<Uint8Array>,
  format: ImportFormat | null,
): AsyncGenerator<ImportedLine> {
  let rows = format === null ? null : rowsOf(format);
  let line = 1;
  for await (const found of readLines(input, maxLineBytes)) {
    ({ line } = found);
    rows ??= rowsOf("text" in found && found.text.trimStart().startsWith("{") ? "ndjson" : "csv");
    try {
      if ("error" in found) throw badRequest(found.error);
      const row = rows.read(found.text);
      if (row === null) continue;
      const plan = readFlightPlan(row);
      yield { line, plan, ...readPlannedChange(row, plan) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      yield { line, error: error.detail };
      if (rows.needsHeader) return;
    }
  }
  rows ??= rowsOf("csv");
  if (rows.needsHeader) yield { line, error: "The header row is missing" };
}

function rowsOf(format: ImportFormat): Rows {
  return format === "csv" ? new CsvRows() : new NdjsonRows();
}

/** Reads the lines of one format. */
interface Rows {
  /** Whether the next line must be a header. */
  readonly needsHeader: boolean;
  /** Returns a line's values by key; null for a header. Throws `bad-request`. */
  read(line: string): ReadonlyMap<string, unknown> | null;
}

class CsvRows implements Rows {
  #columns: readonly string[] = [];

  get needsHeader(): boolean {
    return this.#columns.length === 0;
  }

  read(line: string): ReadonlyMap<string, unknown> | null {
    const cells = cellsOf(line);
    if (this.needsHeader) {
      this.#columns = columnsOf(cells);
      return null;
    }
    if (cells.length !== this.#columns.length) {
      throw badRequest(
        `The line has ${cells.length} fields, but the header has ${this.#columns.length}`,
      );
    }
    return new Map(this.#columns.map((column, index) => [column, cells[index]]));
  }
}

function cellsOf(line: string): readonly string[] {
  const { data, errors } = parse<string[]>(line, { delimiter: ",", newline: "\n" });
  if (errors.length > 0) throw badRequest("A quoted field is not closed correctly");
  return data[0] ?? [];
}

function columnsOf(cells: readonly string[]): readonly string[] {
  const columns = cells.map((cell) => cell.trim());
  const [only = ""] = columns;
  if (columns.length === 1 && /[;\t|]/.test(only)) {
    throw badRequest("The header must separate columns with commas");
  }
  const unknown = columns.filter((column) => !keys.includes(column));
  const missing = flightPlanKeys.filter((key) => !columns.includes(key));
  const repeated = keys.filter((key) => columns.indexOf(key) !== columns.lastIndexOf(key));
  const errors = [
    unknown.length > 0 && `has unknown columns: ${shownNames(unknown)}`,
    missing.length > 0 && `lacks columns: ${missing.join(", ")}`,
    repeated.length > 0 && `repeats columns: ${repeated.join(", ")}`,
  ].filter((error) => error !== false);
  if (errors.length > 0) throw badRequest(`The header ${errors.join("; ")}`);
  return columns;
}

class NdjsonRows implements Rows {
  readonly needsHeader = false;

  read(line: string): ReadonlyMap<string, unknown> {
    const value = jsonOf(line);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw badRequest("The line is not a JSON object");
    }
    const row = new Map<string, unknown>(Object.entries(value));
    const unknown = [...row.keys()].filter((key) => !keys.includes(key));
    if (unknown.length > 0) {
      throw badRequest(`The line has unknown keys: ${shownNames(unknown)}`);
    }
    return row;
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw badRequest("The line is not JSON");
  }
}

/** Lists names for an error message. Long lists are shortened. */
function shownNames(names: readonly string[]): string {
  const more = names.length - maxNamesShown;
  const first = names.slice(0, maxNamesShown).map(shown).join(", ");
  return more > 0 ? `${first} and ${more} more` : first;
}

/** A name from the input, made safe to print: quoted, truncated, non-ASCII characters replaced. */
function shown(name: string): string {
  return `"${name.slice(0, 40).replaceAll(/[^\x20-\x7e]/g, "?")}"`;
}
