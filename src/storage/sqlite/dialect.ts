import { type Column, type Placeholder, sql } from "drizzle-orm";

import type { Dialect } from "../sql.ts";

/** SQLite has no lists to bind: they travel as JSON, and the column's index is still used. */
export const dialect: Dialect = {
  among(column: Column, list: Placeholder) {
    const values = sql.param(list, { mapToDriverValue: JSON.stringify });
    return sql`${column} in (select value from json_each(${values}))`;
  },
};
