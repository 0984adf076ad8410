import type { ServerLimits } from "../storage.ts";

import { checkServer, connect } from "./connect.ts";
import { migrations } from "./migrate.ts";
import { startFault } from "./start-fault.ts";

/**
 * The steps that a start would apply to the database at `url`; none when its schema is current. Reads
 * only. Throws an `Error` that says in one line what to do when it cannot be used.
 */
export async function pendingMigrations(
  url: string,
  limits: ServerLimits,
): Promise<readonly string[]> {
  const pool = connect(url, { ...limits, poolSize: 1 });
  try {
    await checkServer(pool);
    const table: unknown[] = await pool.unsafe(
      "select from pg_tables where schemaname = current_schema() and tablename = 'migrations'",
    );
    const rows: { name: string }[] =
      table.length === 0 ? [] : await pool.unsafe("select name from migrations");
    const applied = rows.map(({ name }) => name);
    return migrations.map(({ name }) => name).filter((name) => !applied.includes(name));
  } catch (error) {
    throw startFault(error, url);
  } finally {
    await pool.close();
  }
}
