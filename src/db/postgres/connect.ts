import { SQL } from "bun";

import type { ServerLimits } from "../storage.ts";

/** Makes a pool of connections, which are opened on first use. */
export function connect(
  url: string,
  { poolSize, connectTimeoutMs, statementTimeoutMs }: ServerLimits,
): SQL {
  return new SQL(url, {
    max: poolSize,
    connectionTimeout: connectTimeoutMs / 1_000,
    connection: {
      application_name: new URL(url).searchParams.get("application_name") ?? "skyhook",
      ...timeouts(statementTimeoutMs),
    },
  });
}

/** The timeouts of every session, in milliseconds. A pooler may not pass them on. */
export function timeouts(statementTimeoutMs: number) {
  return {
    statement_timeout: String(statementTimeoutMs),
    // Releases the locks of an instance that hangs or has lost its network.
    idle_in_transaction_session_timeout: String(statementTimeoutMs),
    // The connection that listens for signals is always idle.
    idle_session_timeout: "0",
  };
}
