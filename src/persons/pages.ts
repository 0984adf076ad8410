import type { Pages, Row, TableStatements } from "./persons.sql.ts";

/** Rows that are read or erased at once. */
export const batchSize = 200;

/** The statement that reads the rows after one, and its values. */
export function pageAfter(
  { of: { key } }: TableStatements,
  { first, after }: Pages,
  row: Row | null,
  values: Row,
): [Pages["first"], Row] {
  if (row === null) return [first, values];
  return [after, { ...values, ...Object.fromEntries(key.map((field) => [field, row[field]])) }];
}

/** The key of a row as one text. */
export function keyOf({ of: { key } }: TableStatements, row: Row): string {
  return key.map((field) => String(row[field])).join("/");
}
