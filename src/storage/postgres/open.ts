import { SQL } from "bun";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sql";

import type { Sql, Statement } from "../sql.ts";
import type { ServerLimits, Storage } from "../storage.ts";

import { claimDue } from "./claim.ts";
import { dialect } from "./dialect.ts";
import { isPassing, unavailable } from "./faults.ts";
import { groupCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import { type PostgresBuilder, prepared, type Run } from "./prepared.ts";
import { signals } from "./signals.ts";
import { startFault } from "./start-fault.ts";
import { tables } from "./tables.ts";

export type Compile = (statement: Statement<never, unknown>) => Run;

/** The oldest server that is tested. */
const leastVersion = 15;
/** Of ten connections, this many write; reads have the others. */
const writersOfTen = 4;
const firstRetryMs = 20;

/**
 * Opens the database at `url` (`postgres://user:password@host:port/database`, with what the driver takes
 * as parameters, as `sslmode`). Throws an `Error` that says in one line what to do when it cannot be used.
 */
export async function openPostgres(url: string, limits: ServerLimits): Promise<Storage> {
  const pool = connect(url, limits);
  let schema: string;
  try {
    schema = await checkServer(pool);
    await migrate(pool);
  } catch (error) {
    await pool.close({ timeout: 0 });
    throw startFault(error, url);
  }
  const compile = compiler(pool);
  const commits = groupCommit(pool, compile, {
    transactions: Math.max(1, Math.floor((limits.poolSize * writersOfTen) / 10)),
    retryMs: limits.retryMs,
  });
  const telling = signals(pool, schema);
  let closed = false;
  return {
    dialect: "postgres",
    async all(statement, values) {
      const run = compile(statement);
      const { rows } = await retried(() => run(pool, values), closed ? 0 : limits.retryMs);
      return rowsOf(statement, rows);
    },
    atomically: commits.atomically,
    claimDue,
    signals: telling,
    async close() {
      closed = true;
      await commits.close();
      await telling.close();
      await pool.close();
    },
  };
}

function connect(
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
async function checkServer(pool: SQL): Promise<string> {
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

/** Reads, and reads again while a fault passes. Throws `unavailable` when it does not. */
async function retried<Result>(read: () => Promise<Result>, patienceMs: number): Promise<Result> {
  const deadlineMs = performance.now() + patienceMs;
  for (let delayMs = firstRetryMs; ; delayMs *= 2) {
    try {
      return await read();
    } catch (error) {
      if (!isPassing(error) || performance.now() + delayMs > deadlineMs) throw unavailable(error);
      await Bun.sleep(delayMs);
    }
  }
}

/** Compiles each statement once, on its first use. */
function compiler(pool: SQL): Compile {
  // Guarantee: Sql lists only methods that Drizzle's PostgreSQL builders have, with the same meaning;
  // the storage suite runs every statement of the program through it.
  const shared = drizzle(pool) as unknown as Sql;
  const parameters = new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) });
  const compiled = new Map<Statement<never, unknown>, Run>();
  return (statement) => {
    let run = compiled.get(statement);
    if (run === undefined) {
      // Guarantee: the proxy answers every name with its placeholder, so with those of any Values.
      const query = statement.build(shared, tables, parameters as never, dialect);
      run = prepared(query as PostgresBuilder);
      compiled.set(statement, run);
    }
    return run;
  };
}

// Guarantee: the rows came from running this very statement, whose type says what they are.
function rowsOf<Row>(_: Statement<never, Row>, rows: readonly unknown[]): Row[] {
  return rows as Row[];
}
