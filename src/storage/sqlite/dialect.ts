import { type Column, type Placeholder, sql } from "drizzle-orm";

import type { Dialect } from "../sql.ts";

/** SQLite has no lists to bind: they travel as JSON, and the column's index is still used. */
export const dialect: Dialect = {
  among(column: Column, list: Placeholder) {
    const values = sql.param(list, { mapToDriverValue: JSON.stringify });
    return sql`${column} in (select value from json_each(${values}))`;
  },
  lower(text: Column | Placeholder) {
    return sql`lower(${text})`;
  },
  nextFlightId(id: Column) {
    return sql`(select coalesce(max(${id}), 0) + 1 from ${id.table})`;
  },
  // One writer at a time: numbers become visible in their order.
  newestSeq(seq: Column) {
    return sql<number>`coalesce(max(${seq}), 0)`.mapWith(Number);
  },
};
