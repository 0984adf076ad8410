import { Option } from "commander";

import { at, printable, textAt } from "../../base/payload.ts";

import { table } from "./output.ts";

/** What every command that prints a list can be told. */
export interface ListOptions {
  readonly json?: true;
}

export function jsonOption(): Option {
  return new Option("--json", "one JSON object per line");
}

/** The heads of a table with the fields that their cells show. */
export type Columns = Readonly<Record<string, string>>;

const longestCell = 60;

/** Prints items as a table, or with --json one object per line. `withHead`: false for a further page. */
export function printList(
  items: readonly object[],
  columns: Columns,
  { json }: ListOptions,
  withHead = true,
): void {
  if (json === true) return printLines(items);
  const rows = items.map((item) => Object.values(columns).map((field) => cellOf(item, field)));
  const lines = withHead ? [Object.keys(columns), ...rows] : rows;
  if (lines.length > 0) console.log(table(lines));
}

/** Prints one JSON object per line. */
export function printLines(items: readonly object[]): void {
  for (const item of items) console.log(JSON.stringify(item));
}

function cellOf(item: object, field: string): string {
  const value = at(item, field);
  if (value instanceof Date) return value.toISOString();
  const text = Array.isArray(value) ? value.join(", ") : textAt(item, field);
  return printable(text ?? "", longestCell) ?? "-";
}
