import { type Column, type Placeholder, type SQL, sql } from "drizzle-orm";

import type { Dialect } from "../statement.ts";

/** SQLite has no lists to bind: they travel as JSON, and the column's index is still used. */
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
  // One writer at a time: numbers become visible in their order.
  newestSettled(column: Column) {
    return sql<number>`coalesce(max(${column}), 0)`.mapWith(Number);
  },
  // One writer at a time: nothing is locked by another.
  amongUnlocked(column: Column, query: SQL) {
    return sql`${column} in (${query})`;
  },
};
