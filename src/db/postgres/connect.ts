import { SQL } from "bun";

import type { ServerLimits } from "../storage.ts";

/** A pool of connections, none of them open yet. */
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
    // Ends what an instance that hangs or is cut off holds.
    idle_in_transaction_session_timeout: String(statementTimeoutMs),
    // The connection that listens is idle all its life.
    idle_session_timeout: "0",
  };
}
