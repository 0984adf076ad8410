import { parse } from "papaparse";

import { AppError } from "../../base/errors.ts";

import { flightPlanKeys, readFlightPlan } from "./flight-plan.ts";
import type { FlightPlan } from "../flight.ts";
import { readLines } from "./lines.ts";

export type ImportFormat = "csv" | "ndjson";

/** What one line holds: a flight plan, or why it holds none. */
export type ImportedLine = {
  /** The line's number, from 1, the header included. */
  readonly line: number;
  /** Bytes of the input up to the end of the line. */
  readonly bytesRead: number;
} & ({ readonly plan: FlightPlan } | { readonly fault: string });

const maxLineBytes = 10 * 1024;
const maxNamesShown = 10;
const keys: readonly string[] = flightPlanKeys;

/**
 * Reads flight plans line by line, in constant memory; null for a format that the first line is to
 * tell: an object begins with a brace, and no header does. CSV (RFC 4180) has a header row that names the
 * columns, in any order; NDJSON has one object per line with the same keys. A line at fault says why
 * and never ends the reading, but for a header at fault: no line could be read without it.
 *
 * A quoted field cannot hold a line break. No field may, so nothing is lost, and a quote that is
 * never closed spoils its own line rather than all that follow.
 */
export async function* readFlightPlans(
  input: ReadableStream<Uint8Array>,
  format: ImportFormat | null,
): AsyncGenerator<ImportedLine> {
  let rows = format === null ? null : rowsOf(format);
  let at = { line: 1, bytesRead: 0 };
  for await (const found of readLines(input, maxLineBytes)) {
    at = { line: found.line, bytesRead: found.bytesRead };
    rows ??= rowsOf("text" in found && found.text.trimStart().startsWith("{") ? "ndjson" : "csv");
    try {
      if ("fault" in found) throw refusal(found.fault);
      const row = rows.read(found.text);
      if (row !== null) yield { ...at, plan: readFlightPlan(row) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      yield { ...at, fault: error.detail };
      if (rows.needsHeader) return;
    }
  }
  rows ??= rowsOf("csv");
  if (rows.needsHeader) yield { ...at, fault: "There is no header row" };
}

function rowsOf(format: ImportFormat): Rows {
  return format === "csv" ? new CsvRows() : new NdjsonRows();
}

/** A line's values by key; null for a header. */
interface Rows {
  /** Whether the next line must be a header. */
  readonly needsHeader: boolean;
  /** Throws `bad-request`. */
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
      throw refusal(`The line has ${cells.length} fields, the header ${this.#columns.length}`);
    }
    return new Map(this.#columns.map((column, index) => [column, cells[index]]));
  }
}

function cellsOf(line: string): readonly string[] {
  const { data, errors } = parse<string[]>(line, { delimiter: ",", newline: "\n" });
  if (errors.length > 0) throw refusal("A quoted field does not end as it should");
  return data[0] ?? [];
}

function columnsOf(cells: readonly string[]): readonly string[] {
  const columns = cells.map((cell) => cell.trim());
  const [only = ""] = columns;
  if (columns.length === 1 && /[;\t|]/.test(only)) {
    throw refusal("The header must separate its columns by commas");
  }
  const unknown = columns.filter((column) => !keys.includes(column));
  const missing = keys.filter((key) => !columns.includes(key));
  const repeated = keys.filter((key) => columns.indexOf(key) !== columns.lastIndexOf(key));
  const faults = [
    unknown.length > 0 && `has unknown columns: ${shownNames(unknown)}`,
    missing.length > 0 && `lacks columns: ${missing.join(", ")}`,
    repeated.length > 0 && `repeats columns: ${repeated.join(", ")}`,
  ].filter((fault) => fault !== false);
  if (faults.length > 0) throw refusal(`The header ${faults.join("; ")}`);
  return columns;
}

class NdjsonRows implements Rows {
  readonly needsHeader = false;

  read(line: string): ReadonlyMap<string, unknown> {
    const value = jsonOf(line);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw refusal("The line is not a JSON object");
    }
    const row = new Map<string, unknown>(Object.entries(value));
    const unknown = [...row.keys()].filter((key) => !keys.includes(key));
    if (unknown.length > 0) {
      throw refusal(`The line has unknown keys: ${shownNames(unknown)}`);
    }
    return row;
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw refusal("The line is not JSON");
  }
}

/** Names in one sentence: a line of nothing but unknown ones must not make a page of it. */
function shownNames(names: readonly string[]): string {
  const more = names.length - maxNamesShown;
  const first = names.slice(0, maxNamesShown).map(shown).join(", ");
  return more > 0 ? `${first} and ${more} more` : first;
}

/** A name that somebody wrote, safe to print: in quotes, cut, without what is not plain text. */
function shown(name: string): string {
  return `"${name.slice(0, 40).replaceAll(/[^\x20-\x7e]/g, "?")}"`;
}

function refusal(detail: string): AppError {
  return new AppError("bad-request", detail);
}
