import type { Database } from "bun:sqlite";

import { drizzle } from "drizzle-orm/bun-sqlite";

import type { ItemId, Position } from "../src/base/page.ts";
import { compiler } from "../src/db/compiler.ts";
import type { Source } from "../src/db/paginate.ts";
import { dialect } from "../src/db/sqlite/dialect.ts";
import { tableOf } from "../src/db/sqlite/tables.ts";
import type { Sql, Statement } from "../src/db/statement.ts";
import type { Storage } from "../src/db/storage.ts";

/** SQLite's query plan for a page of a list after an item. */
export async function deepPagePlan<Id extends ItemId>(
  database: Database,
  list: (storage: Storage, filters: Record<never, never>) => Source<unknown, Id>,
  from: Position<Id> | null,
): Promise<string> {
  const statements: Statement<never, unknown>[] = [];
  const recorder = {
    all(statement: Statement<never, unknown>) {
      statements.push(statement);
      return Promise.resolve([]);
    },
  };
  // Guarantee: lists read pages only by `all`.
  await list(recorder as unknown as Storage, {}).read({
    order: "newest-first",
    from,
    offset: 0,
    limit: 20,
  });
  const textOf = compiler({
    // Guarantee: as in the storage, Sql declares only methods that these builders have.
    builders: drizzle(database) as unknown as Sql,
    tableOf,
    dialect,
    // Guarantee: every complete Drizzle query has `toSQL`.
    prepare: (query) => (query as unknown as { toSQL(): { sql: string } }).toSQL().sql,
  });
  const details = statements.flatMap((statement) =>
    database.query<{ detail: string }, []>(`explain query plan ${textOf(statement)}`).all(),
  );
  return details.map(({ detail }) => detail).join("; ");
}
