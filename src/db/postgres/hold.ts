import type { ReservedSQL, SQL } from "bun";

import { migrationsTable, type Schema, UnfitDatabase } from "../schema.ts";
import type { Hold, ServerLimits } from "../storage.ts";

import { silenceOf } from "./check-server.ts";
import { connect } from "./connect.ts";
import { answerWithin, sqlStateOf } from "./errors.ts";
import { startError } from "./start-error.ts";

const statementTimeout = "57014";
const othersAtWork = "Others write to this database, or copy it: stop them, then copy";

/**
 * Locks all tables against writing. Writers wait, and fail when that takes too long; of several holds one
 * succeeds. On a connection of its own, since the lock lasts as long as its transaction.
 */
export async function hold(schema: Schema, url: string, limits: ServerLimits): Promise<Hold> {
  const pool = connect(url, { ...limits, poolSize: 1 });
  const release = () => pool.close({ timeout: 0 });
  try {
    // A pooler that is full lets us connect, and then wait without a word.
    const patienceMs = limits.connectTimeoutMs + silenceOf(limits);
    const connection = await answerWithin(lockedIn(pool, schema, limits), patienceMs);
    return {
      async requireHeld() {
        // Refused outside of a transaction, so on a new connection too.
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
  // Set again: a pooler may not have passed it on to the session.
  await connection.unsafe(`set local statement_timeout = ${statementTimeoutMs}`);
  await connection.unsafe("set local idle_in_transaction_session_timeout = 0");
  const names = [migrationsTable, ...tables].map(({ name }) => `"${name}"`);
  await connection.unsafe(`lock table ${names.join()} in share row exclusive mode`);
  return connection;
}
