import { type Column, type Placeholder, type SQL, sql } from "drizzle-orm";

import type { Dialect } from "../statement.ts";

/** SQLite cannot bind lists, so they are passed as JSON. The column's index is still used. */
export const dialect: Dialect = {
  among(column: Column, list: Placeholder) {
    const values = sql.param(list, { mapToDriverValue: JSON.stringify });
    return sql`${column} in (select value from json_each(${values}))`;
  },
  lower(text: Column | Placeholder) {
    return sql`lower(${text})`;
  },
  nextNumber(column: Column) {
    return sql`(select coalesce(max(${column}), 0) + 1 from ${column.table})`;
  },
  // SQLite has one writer at a time, so rows become visible in the order of their numbers.
  newestSettled(column: Column) {
    return sql<number>`coalesce(max(${column}), 0)`.mapWith(Number);
  },
  // SQLite has one writer at a time, so no row is locked by another transaction.
  amongUnlocked(column: Column, query: SQL) {
    return sql`${column} in (${query})`;
  },
};
