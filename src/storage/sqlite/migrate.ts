import type { Database } from "bun:sqlite";

import bookings from "./migrations/0002_bookings.sql" with { type: "text" };
import initial from "./migrations/0001_initial.sql" with { type: "text" };
import statistics from "./migrations/0003_statistics.sql" with { type: "text" };

/** In order, never edited once released: a change is a new file and a new line. */
export const migrations: readonly { readonly name: string; readonly sql: string }[] = [
  { name: "0001_initial", sql: initial },
  { name: "0002_bookings", sql: bookings },
  { name: "0003_statistics", sql: statistics },
];

/**
 * Brings the database to this program's schema, each step in one transaction, so that a crash in the
 * middle leaves the step undone. Throws when the database has steps that this program does not know.
 */
export function migrate(client: Database): void {
  client.run("begin exclusive");
  try {
    client.run("create table if not exists migrations (name text not null primary key) strict");
    const applied = client.query<{ name: string }, []>("select name from migrations").all();
    const known = new Set(migrations.map((migration) => migration.name));
    const unknown = applied.find(({ name }) => !known.has(name));
    if (unknown !== undefined) {
      throw new Error(
        `The database is newer than this program (it has "${unknown.name}"): run the newer skyhook, or restore a backup`,
      );
    }
    for (const { name, sql } of migrations.slice(applied.length)) {
      client.run(sql);
      client.run("insert into migrations (name) values (?)", [name]);
    }
    client.run("commit");
  } catch (error) {
    if (client.inTransaction) client.run("rollback");
    throw error;
  }
}
