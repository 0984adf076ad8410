import type { ReservedSQL, SQL } from "bun";

import { migrationsTable, type Schema, UnfitDatabase } from "../schema.ts";
import type { Hold, ServerLimits } from "../storage.ts";

import { answerTimeoutOf } from "./check-server.ts";
import { connect } from "./connect.ts";
import { answerWithin, sqlStateOf, statementTimeout } from "./errors.ts";
import { startError } from "./start-error.ts";

const othersAtWork =
  "Other programs are writing to this database or copying it: stop them, then copy again";

/**
 * Locks all tables against writes. Writers wait, and fail after their timeout; of several concurrent holds,
 * one succeeds. Uses its own connection, since the lock ends with its transaction.
 */
export async function hold(schema: Schema, url: string, limits: ServerLimits): Promise<Hold> {
  const pool = connect(url, { ...limits, poolSize: 1 });
  const release = () => pool.close({ timeout: 0 });
  try {
    // A full pooler accepts the connection, and then never answers.
    const patienceMs = limits.connectTimeoutMs + answerTimeoutOf(limits);
    const connection = await answerWithin(lockedIn(pool, schema, limits), patienceMs);
    return {
      async requireHeld() {
        // Fails outside a transaction, so it detects a new connection.
        await connection.unsafe("savepoint held");
      },
      release,
    };
  } catch (error) {
    await release();
    throw sqlStateOf(error) === statementTimeout
      ? new UnfitDatabase(othersAtWork)
      : startError(error, url);
  }
}

async function lockedIn(
  pool: SQL,
  { tables }: Schema,
  { statementTimeoutMs }: ServerLimits,
): Promise<ReservedSQL> {
  const connection = await pool.reserve();
  await connection.unsafe("begin");
  // Set here too, since a pooler may not have passed it to the session.
  await connection.unsafe(`set local statement_timeout = ${statementTimeoutMs}`);
  await connection.unsafe("set local idle_in_transaction_session_timeout = 0");
  const names = [migrationsTable, ...tables].map(({ name }) => `"${name}"`);
  await connection.unsafe(`lock table ${names.join()} in share row exclusive mode`);
  return connection;
}
