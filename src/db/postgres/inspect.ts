import type { SQL } from "bun";

import { dueMigrations, type Migration, type Schema } from "../schema.ts";
import type { ServerLimits } from "../storage.ts";

import { checkMigrated, checkServer, type ServerFound } from "./check-server.ts";
import { connect } from "./connect.ts";
import { hasMigrations } from "./migrate.ts";
import { listeningInstances, trySignal } from "./signals.ts";
import { startError } from "./start-error.ts";

interface Inspected {
  /** The migrations that a start would apply; none when the schema is current. */
  readonly pending: readonly string[];
  /** What needs attention on the server and what to do about it, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Inspects the database at `url` without writing. Throws an `Error` with a message of one line that says what
 * to do when the database cannot be used.
 */
export function inspectServer(
  schema: Schema,
  url: string,
  limits: ServerLimits,
): Promise<Inspected> {
  return inspected(schema, url, limits, async (pool, { warnings }, few) => {
    const table: unknown[] = await pool.unsafe(hasMigrations);
    if (table.length > 0) await checkMigrated(pool, few);
    const rows: { name: string }[] =
      table.length === 0 ? [] : await pool.unsafe("select name from migrations");
    const applied = rows.map(({ name }) => name);
    const pending = dueMigrations(schema.migrations.postgres, applied, true).map(
      ({ name }) => name,
    );
    if (pending.length > 0) await requireCreatePrivilege(pool);
    const unsignalled = await trySignal(pool);
    return { pending, warnings: unsignalled === null ? warnings : [...warnings, unsignalled] };
  });
}

/** Whether an instance is using the database at `url`. Throws like `inspectServer`. */
export function isServed(schema: Schema, url: string, limits: ServerLimits): Promise<boolean> {
  return inspected(schema, url, limits, async (pool) => {
    const instances: unknown[] = await pool.unsafe(listeningInstances);
    return instances.length > 0;
  });
}

/** Lends a function that runs a migration on empty tables, in a transaction that closing rolls back: locks no table in use. */
export function onEmptyTables(
  schema: Schema,
  url: string,
  limits: ServerLimits,
  pending: readonly string[],
  use: (run: (migration: Migration) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  return inspected(schema, url, limits, async (pool) => {
    const one = await pool.reserve();
    const run = ({ sql }: Migration) => one.unsafe(sql).simple();
    await one.unsafe("begin; create schema sky_trial; set local search_path = sky_trial").simple();
    for (const migration of schema.migrations.postgres) {
      if (!pending.includes(migration.name)) await run(migration);
    }
    await use(run);
  });
}

async function requireCreatePrivilege(pool: SQL): Promise<void> {
  const may: unknown[] = await pool.unsafe(
    "select where has_schema_privilege(current_schema(), 'create')",
  );
  if (may.length > 0) return;
  throw new Error(
    "its role may not create tables in the schema: grant it create on the schema, or start this version once as the schema's owner",
  );
}

async function inspected<Found>(
  schema: Schema,
  url: string,
  limits: ServerLimits,
  look: (pool: SQL, found: ServerFound, limits: ServerLimits) => Promise<Found>,
): Promise<Found> {
  // Two connections suffice to check that each has its own session.
  const few = { ...limits, poolSize: Math.min(2, limits.poolSize) };
  const pool = connect(url, few);
  try {
    return await look(pool, await checkServer(pool, schema, few), few);
  } catch (error) {
    throw startError(error, url);
  } finally {
    // Do not wait for open queries: a full pooler may never answer.
    await pool.close({ timeout: 0 });
  }
}
