import { type Column, getTableName, type Placeholder, type SQL, sql } from "drizzle-orm";

import type { Dialect } from "../statement.ts";

/** What PostgreSQL writes in its own way. */
export const dialect: Dialect = {
  among(column: Column, list: Placeholder) {
    // Inferred, the list's type would be the column's: an id beyond its range would be an error, not a miss.
    return column.dataType === "number"
      ? sql`${column} = any(${list}::bigint[])`
      : sql`${column} = any(${list})`;
  },
  nextNumber(column: Column) {
    // Instances insert at the same time: the highest number that one sees may not be the highest.
    return sql`nextval(${sql.raw(`'${getTableName(column.table)}_${column.name}'`)})`;
  },
  lower(text: Column | Placeholder): SQL {
    // A parameter has the database's own collation, whose lower case may differ from the index's.
    return sql`lower(${text} collate "C")`;
  },
  newestSettled(column: Column) {
    const name = sql.identifier(
      `settled_${getTableName(column.table).replace(/s$/, "")}_${column.name}`,
    );
    return sql<number>`${name}()`.mapWith(Number);
  },
  amongUnlocked(column: Column, query: SQL) {
    // As an array, so that what is locked is chosen once.
    return sql`${column} = any(array(${query} for update skip locked))`;
  },
};
