import { SQL } from "bun";

import type { ServerLimits } from "../storage.ts";

/** The oldest server that is tested. */
const leastVersion = 15;

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
      statement_timeout: String(statementTimeoutMs),
      // Ends what an instance that hangs or is cut off holds.
      idle_in_transaction_session_timeout: String(statementTimeoutMs),
      // The connection that listens is idle all its life.
      idle_session_timeout: "0",
    },
  });
}

/** The schema that unqualified names mean. Throws when the server is too old, or has no such schema. */
export async function checkServer(pool: SQL): Promise<string> {
  const [row]: [string, string | null][] = await pool
    .unsafe("select current_setting('server_version_num'), current_schema()")
    .values();
  const version = Math.floor(Number(row?.[0]) / 10_000);
  if (version < leastVersion) {
    throw new Error(`it is PostgreSQL ${version}: take ${leastVersion} or newer`);
  }
  const schema = row?.[1] ?? null;
  if (schema === null) throw new Error("search_path names no schema that is there: make it first");
  return schema;
}
