import { type Column, type Placeholder, type SQL, sql } from "drizzle-orm";

import type { Dialect } from "../sql.ts";

/** What PostgreSQL writes in its own way. */
export const dialect: Dialect = {
  among(column: Column, list: Placeholder) {
    // Inferred, the list's type would be the column's: an id beyond its range would be an error, not a miss.
    return column.dataType === "number"
      ? sql`${column} = any(${list}::bigint[])`
      : sql`${column} = any(${list})`;
  },
  nextFlightId() {
    // Instances import at the same time: the highest id that one sees may not be the highest.
    return sql`nextval('flights_id')`;
  },
  lower(text: Column | Placeholder): SQL {
    // A parameter has the database's own collation, whose lower case may differ from the index's.
    return sql`lower(${text} collate "C")`;
  },
  newestSeq() {
    return sql<number>`settled_notification_seq()`.mapWith(Number);
  },
};
