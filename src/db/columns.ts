import { type Column, type SQL, sql, type Table } from "drizzle-orm";

import { encoded } from "./statement.ts";

/** The columns as a row value, or as a list of what is selected. */
export function columnList(columns: readonly (Column | SQL)[]): SQL {
  return sql.join([...columns], sql`, `);
}

/** True for the rows after the one whose values the placeholders `names` have. */
export function isAfterRow(columns: readonly Column[], names: readonly string[]): SQL {
  const place = columns.map((column, n) => encoded(sql.placeholder(names[n] ?? ""), column));
  return sql`(${columnList(columns)}) > (${columnList(place)})`;
}

/** A column by the name of its field, for statements that are made for many tables. */
export function columnOf(table: Table, field: string): Column {
  // Guarantee: Drizzle's tables have their columns as properties, named like the fields of their rows.
  const column = (table as unknown as Readonly<Record<string, Column>>)[field];
  if (column === undefined) throw new Error(`There is no column ${field}`);
  return column;
}
