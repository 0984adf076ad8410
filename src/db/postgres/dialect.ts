import { type Column, getTableName, type Placeholder, type SQL, sql } from "drizzle-orm";

import type { Dialect } from "../statement.ts";

export const dialect: Dialect = {
  among(column: Column, list: Placeholder) {
    // Without the cast, the list has the column's type, and an id beyond its range is an error, not a miss.
    return column.dataType === "number"
      ? sql`${column} = any(${list}::bigint[])`
      : sql`${column} = any(${list})`;
  },
  nextNumber(column: Column) {
    // Instances insert concurrently, so `max(column) + 1` is not unique.
    return sql`nextval(${sql.raw(`'${getTableName(column.table)}_${column.name}'`)})`;
  },
  lower(text: Column | Placeholder): SQL {
    // A parameter has the default collation of the database, whose lower case may differ from the index's.
    return sql`lower(${text} collate "C")`;
  },
  newestSettled(column: Column) {
    const name = sql.identifier(
      `settled_${getTableName(column.table).replace(/s$/, "")}_${column.name}`,
    );
    return sql<number>`${name}()`.mapWith(Number);
  },
  amongUnlocked(column: Column, query: SQL) {
    // As an array, so that the query runs, and locks rows, once.
    return sql`${column} = any(array(${query} for update skip locked))`;
  },
};
