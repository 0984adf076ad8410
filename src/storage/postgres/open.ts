import type { SQL } from "bun";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sql";

import type { Sql, Statement } from "../sql.ts";
import type { ServerLimits, Storage } from "../storage.ts";

import { claimDue } from "./claim.ts";
import { checkServer, connect } from "./connect.ts";
import { dialect } from "./dialect.ts";
import { answered, isPassing, unavailable } from "./faults.ts";
import { groupCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import { type PostgresBuilder, prepared, type Run } from "./prepared.ts";
import { signals } from "./signals.ts";
import { startFault } from "./start-fault.ts";
import { tables } from "./tables.ts";

export type Compile = (statement: Statement<never, unknown>) => Run;

/** Of ten connections, this many write; reads have the others. */
const writersOfTen = 4;
const firstRetryMs = 20;
const graceMs = 2_000;

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
  // The server says so itself when a statement takes too long. Longer than that, nobody is there.
  const silenceMs = limits.statementTimeoutMs + graceMs;
  const commits = groupCommit(pool, compile, {
    transactions: Math.max(1, Math.floor((limits.poolSize * writersOfTen) / 10)),
    retryMs: limits.retryMs,
    silenceMs,
  });
  const telling = signals(pool, schema);
  let closed = false;
  return {
    dialect: "postgres",
    async all(statement, values) {
      const run = compile(statement);
      const { rows } = await retried(
        () => answered(run(pool, values), silenceMs),
        closed ? 0 : limits.retryMs,
      );
      return rowsOf(statement, rows);
    },
    atomically: commits.atomically,
    claimDue,
    signals: telling,
    async lastSeq() {
      const rows: { seq: string }[] = await pool.unsafe(
        "select case when is_called then last_value else last_value - 1 end as seq from notifications_seq",
      );
      return Number(rows[0]?.seq ?? 0);
    },
    async continueAfter(seq) {
      await pool.unsafe("select setval('notifications_seq', $1, false)", [seq + 1]);
      await pool.unsafe(
        "select setval('flights_id', coalesce(max(id), 0) + 1, false) from flights",
      );
    },
    async close() {
      closed = true;
      await commits.close();
      await telling.close();
      await pool.close();
    },
  };
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
