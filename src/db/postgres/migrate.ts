import type { SQL } from "bun";

import { dueMigrations, type Schema } from "../schema.ts";

/** Returns a row when the table of migrations exists. */
export const hasMigrations =
  "select from pg_tables where schemaname = current_schema() and tablename = 'migrations'";

/** Of all locks in the database, the one of instances that start; the letters "sky". */
const lockId = 0x73_6b_79;

/**
 * Applies the migrations that the database lacks, in one transaction. Of instances that start together
 * one does so and the others wait. Resolves with their names; none for a new database. Throws an
 * `UnfitDatabase`.
 */
export function migrate(
  pool: SQL,
  { migrations }: Schema,
  isForCopy: boolean,
): Promise<readonly string[]> {
  return pool.begin(async (transaction) => {
    // Waits for as long as the others take.
    await transaction.unsafe("set local statement_timeout = 0");
    await transaction.unsafe("select pg_advisory_xact_lock($1)", [lockId]);
    // Where there is nothing to do, no right to make tables is asked for.
    const made: unknown[] = await transaction.unsafe(hasMigrations);
    if (made.length === 0) {
      await transaction.unsafe(
        'create table migrations (name text collate "C" not null primary key)',
      );
    }
    const rows: string[][] = await transaction.unsafe("select name from migrations").values();
    const due = dueMigrations(migrations.postgres, rows.flat(), isForCopy);
    for (const { name, sql } of due) {
      await transaction.unsafe(sql).simple();
      await transaction.unsafe("insert into migrations (name) values ($1)", [name]);
    }
    return rows.length === 0 ? [] : due.map(({ name }) => name);
  });
}
