import type { Column } from "drizzle-orm";

type Row = Readonly<Record<string, unknown>>;

/** Returns the encoder of `Dialect.rows`: each row becomes a list of the values of its columns. */
export function rowsAsJson(columns: Readonly<Record<string, Column>>): (rows: unknown) => string {
  const entries = Object.entries(columns);
  const valueOf = (row: Row, [field, column]: [string, Column]) => {
    const value = row[field];
    if (value === undefined) throw new Error(`No value for "${field}"`);
    return storable(value === null ? null : column.mapToDriverValue(value));
  };
  return (rows) =>
    // Guarantee: a statement names the type of its list, whose rows have these columns.
    JSON.stringify(
      (rows as readonly Row[]).map((row) => entries.map((each) => valueOf(row, each))),
    );
}

function storable(value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\u{FFFD}") : value;
}
