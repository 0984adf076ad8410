import type { SQL } from "bun";

import type { ServerLimits } from "../storage.ts";

import { checkServer, connect } from "./connect.ts";
import { migrations } from "./migrate.ts";
import { listeningInstances } from "./signals.ts";
import { startFault } from "./start-fault.ts";

/**
 * The steps that a start would apply to the database at `url`; none when its schema is current. Reads
 * only. Throws an `Error` that says in one line what to do when it cannot be used.
 */
export function pendingMigrations(url: string, limits: ServerLimits): Promise<readonly string[]> {
  return inspected(url, limits, async (pool) => {
    const table: unknown[] = await pool.unsafe(
      "select from pg_tables where schemaname = current_schema() and tablename = 'migrations'",
    );
    const rows: { name: string }[] =
      table.length === 0 ? [] : await pool.unsafe("select name from migrations");
    const applied = rows.map(({ name }) => name);
    return migrations.map(({ name }) => name).filter((name) => !applied.includes(name));
  });
}

/** Whether an instance serves the database at `url` now. Throws as `pendingMigrations` does. */
export function isServed(url: string, limits: ServerLimits): Promise<boolean> {
  return inspected(url, limits, async (pool) => {
    const instances: unknown[] = await pool.unsafe(listeningInstances);
    return instances.length > 0;
  });
}

async function inspected<Found>(
  url: string,
  limits: ServerLimits,
  look: (pool: SQL) => Promise<Found>,
): Promise<Found> {
  const pool = connect(url, { ...limits, poolSize: 1 });
  try {
    await checkServer(pool);
    return await look(pool);
  } catch (error) {
    throw startFault(error, url);
  } finally {
    await pool.close();
  }
}
