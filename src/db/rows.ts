import { Column, is } from "drizzle-orm";

interface Decoder {
  mapFromDriverValue(value: unknown): unknown;
}

/**
 * A value of a row, as Drizzle describes it: its path in the row object, and its decoder (a column, or an
 * expression's decoder).
 */
export interface Field {
  readonly path: readonly string[];
  readonly field: Column | { readonly decoder: Decoder };
}

/** Builds a row from the values that the database returned for it. */
export type ReadRow = (values: readonly unknown[]) => Row;
type Row = Record<string, unknown>;

/**
 * Returns a function that builds a row: flat, or with a nested object for each table. Drizzle's own checks
 * the type of every value of every row.
 */
export function rowReader(fields: readonly Field[]): ReadRow {
  const columns = fields.map(({ path: [first = "", second], field }) => {
    const decoder: Decoder = is(field, Column) ? field : field.decoder;
    return { first, second, decoder };
  });
  return (values) => {
    const row: Row = {};
    for (const [index, { first, second, decoder }] of columns.entries()) {
      const value = values[index];
      const decoded = value === null ? null : decoder.mapFromDriverValue(value);
      if (second === undefined) row[first] = decoded;
      else part(row, first)[second] = decoded;
    }
    return row;
  };
}

// Guarantee: only this function sets `row[table]`, always to an object.
function part(row: Row, table: string): Row {
  return (row[table] ??= {}) as Row;
}
