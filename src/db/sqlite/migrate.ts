import type { Database } from "bun:sqlite";

import { dueMigrations, type Schema } from "../schema.ts";

/**
 * Applies the pending migrations in one transaction, so that a crash leaves none partly applied. Returns
 * their names; none for a new database. Throws an `UnfitDatabase`.
 */
export function migrate(
  client: Database,
  { migrations }: Schema,
  isForCopy: boolean,
): readonly string[] {
  client.run("begin exclusive");
  try {
    client.run("create table if not exists migrations (name text not null primary key) strict");
    const stored = client.query("select name from migrations order by rowid").values();
    const names = stored.flat().map(String);
    const due = dueMigrations(migrations.sqlite, names, isForCopy);
    for (const { name, sql } of due) {
      client.run(sql);
      client.run("insert into migrations (name) values (?)", [name]);
    }
    client.run("commit");
    return names.length === 0 ? [] : due.map(({ name }) => name);
  } catch (error) {
    if (client.inTransaction) client.run("rollback");
    throw error;
  }
}
