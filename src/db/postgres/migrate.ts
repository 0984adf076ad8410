import type { SQL } from "bun";

import { dueMigrations, type Migration } from "../applied.ts";

import bookingEventOwners from "./migrations/0003_booking_event_owners.sql" with { type: "text" };
import initial from "./migrations/0001_initial.sql" with { type: "text" };
import statistics from "./migrations/0002_statistics.sql" with { type: "text" };

/** In order, never edited once released: a change is a new file and a new line. */
export const migrations: readonly Migration[] = [
  { name: "0001_initial", sql: initial },
  { name: "0002_statistics", sql: statistics },
  { name: "0003_booking_event_owners", sql: bookingEventOwners },
];

/** Finds the table of applied steps, if it is there. */
export const migrationsTable =
  "select from pg_tables where schemaname = current_schema() and tablename = 'migrations'";

/** Of all locks in the database, the one of instances that start; the letters "sky". */
const lockId = 0x73_6b_79;

/**
 * Brings the database to this program's schema in one transaction. Of instances that start together one
 * does so, and the others wait for it. Resolves with the steps that an older schema lacked;
 * none for a new database. Throws an `UnfitDatabase`. `isForCopy`: opened to be copied into.
 */
export function migrate(pool: SQL, isForCopy: boolean): Promise<readonly string[]> {
  return pool.begin(async (transaction) => {
    // Waits for as long as the others take.
    await transaction.unsafe("set local statement_timeout = 0");
    await transaction.unsafe("select pg_advisory_xact_lock($1)", [lockId]);
    // Where there is nothing to do, no right to make tables is asked for.
    const made: unknown[] = await transaction.unsafe(migrationsTable);
    if (made.length === 0) {
      await transaction.unsafe(
        'create table migrations (name text collate "C" not null primary key)',
      );
    }
    const rows: string[][] = await transaction.unsafe("select name from migrations").values();
    const due = dueMigrations(migrations, rows.flat(), isForCopy);
    for (const { name, sql } of due) {
      await transaction.unsafe(sql).simple();
      await transaction.unsafe("insert into migrations (name) values ($1)", [name]);
    }
    return rows.length === 0 ? [] : due.map(({ name }) => name);
  });
}
