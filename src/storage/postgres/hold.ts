import { getTableName } from "drizzle-orm";

import type { ServerLimits } from "../storage.ts";

import { connect } from "./connect.ts";
import { startFault } from "./start-fault.ts";
import { tables } from "./tables.ts";

/** A lock on all tables, under which they are read and not written. */
export interface Hold {
  /** Throws when the lock was lost, as with its connection. */
  requireHeld(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Has whoever writes to the database at `url` wait, and be refused when that takes too long. On a
 * connection of its own, since the lock lasts as long as its transaction does.
 */
export async function hold(url: string, limits: ServerLimits): Promise<Hold> {
  const pool = connect(url, { ...limits, poolSize: 1 });
  const release = () => pool.close({ timeout: 0 });
  try {
    const connection = await pool.reserve();
    await connection.unsafe("begin");
    await connection.unsafe("set local idle_in_transaction_session_timeout = 0");
    const names = Object.values(tables).map((table) => `"${getTableName(table)}"`);
    await connection.unsafe(`lock table ${names.join()} in share mode`);
    return {
      async requireHeld() {
        // Refused outside of a transaction, so on a new connection too.
        await connection.unsafe("savepoint held");
      },
      release,
    };
  } catch (error) {
    await release();
    throw startFault(error, url);
  }
}
