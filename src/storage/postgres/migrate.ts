import type { SQL } from "bun";

import initial from "./migrations/0001_initial.sql" with { type: "text" };
import statistics from "./migrations/0002_statistics.sql" with { type: "text" };

/** In order, never edited once released: a change is a new file and a new line. */
export const migrations: readonly { readonly name: string; readonly sql: string }[] = [
  { name: "0001_initial", sql: initial },
  { name: "0002_statistics", sql: statistics },
];

/** Of all locks in the database, the one of instances that start; the letters "sky". */
const lockId = 0x73_6b_79;

/**
 * Brings the database to this program's schema in one transaction. Of instances that start together one
 * does so, and the others wait for it. Throws when the database has steps that this program does not know.
 */
export async function migrate(pool: SQL): Promise<void> {
  await pool.begin(async (transaction) => {
    // Waits for as long as the others take.
    await transaction.unsafe("set local statement_timeout = 0");
    await transaction.unsafe("select pg_advisory_xact_lock($1)", [lockId]);
    await transaction.unsafe(
      'create table if not exists migrations (name text collate "C" not null primary key)',
    );
    const rows: string[][] = await transaction.unsafe("select name from migrations").values();
    const applied = rows.flat();
    const known = new Set(migrations.map(({ name }) => name));
    const unknown = applied.find((name) => !known.has(name));
    if (unknown !== undefined) {
      throw new Error(
        `The database is newer than this program (it has "${unknown}"): run the newer skyhook, or restore a backup`,
      );
    }
    for (const { name, sql } of migrations.slice(applied.length)) {
      await transaction.unsafe(sql).simple();
      await transaction.unsafe("insert into migrations (name) values ($1)", [name]);
    }
  });
}
