import type { Database } from "bun:sqlite";

import { dueMigrations, type Migration } from "../applied.ts";

import bookings from "./migrations/0002_bookings.sql" with { type: "text" };
import bookingEventOwners from "./migrations/0004_booking_event_owners.sql" with { type: "text" };
import initial from "./migrations/0001_initial.sql" with { type: "text" };
import statistics from "./migrations/0003_statistics.sql" with { type: "text" };

/** In order, never edited once released: a change is a new file and a new line. */
export const migrations: readonly Migration[] = [
  { name: "0001_initial", sql: initial },
  { name: "0002_bookings", sql: bookings },
  { name: "0003_statistics", sql: statistics },
  { name: "0004_booking_event_owners", sql: bookingEventOwners },
];

/**
 * Brings the database to this program's schema, each step in one transaction, so that a crash in the
 * middle leaves the step undone. Returns the steps that an older schema lacked; none
 * for a new database. Throws an `UnfitDatabase`. `isForCopy`: opened to be copied into.
 */
export function migrate(client: Database, isForCopy: boolean): readonly string[] {
  client.run("begin exclusive");
  try {
    client.run("create table if not exists migrations (name text not null primary key) strict");
    const applied = client.query<{ name: string }, []>("select name from migrations").all();
    const names = applied.map(({ name }) => name);
    const due = dueMigrations(migrations, names, isForCopy);
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
