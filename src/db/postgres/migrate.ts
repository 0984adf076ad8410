import type { SQL } from "bun";

import { dueMigrations, type Schema } from "../schema.ts";

/** A query that returns a row if the table `migrations` exists. */
export const hasMigrations =
  "select from pg_tables where schemaname = current_schema() and tablename = 'migrations'";

/** The advisory lock of instances that start; the letters "sky". */
const lockId = 0x73_6b_79;

/**
 * Applies the pending migrations in one transaction. Of several instances that start at once, one applies
 * them and the others wait. Resolves with their names; none for a new database. Throws an
 * `UnfitDatabase`.
 */
export function migrate(
  pool: SQL,
  { migrations }: Schema,
  isForCopy: boolean,
): Promise<readonly string[]> {
  return pool.begin(async (transaction) => {
    // Wait without a limit for the instance that migrates.
    await transaction.unsafe("set local statement_timeout = 0");
    await transaction.unsafe("select pg_advisory_xact_lock($1)", [lockId]);
    // Create the table only if it is missing: a role without the create privilege can start otherwise.
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
