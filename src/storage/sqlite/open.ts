import { Database } from "bun:sqlite";
import { chmodSync, mkdirSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";

import { AppError } from "../../errors.ts";
import type { Sql, Statement } from "../sql.ts";
import type { Storage } from "../storage.ts";

import { claimDue } from "./claim.ts";
import { dialect } from "./dialect.ts";
import { unavailable } from "./faults.ts";
import { groupCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import { prepared, type Run, type SqliteBuilder } from "./prepared.ts";
import { tables } from "./tables.ts";

export type Compile = (statement: Statement<never, unknown>) => Run;

/** How long a call waits inside SQLite for another process's lock; longer waits leave the loop free. */
const busyTimeoutMs = 25;

/** Opens (and makes, if missing) the database in `file`, or one in memory for `:memory:`. */
export function openSqlite(file: string): Storage {
  const client = connect(file);
  migrate(client);
  const compile = compiler(client);
  const commits = groupCommit(client, compile, inPlace(file));
  return {
    dialect: "sqlite",
    async all(statement, values) {
      try {
        return rowsOf(statement, compile(statement)(values).rows);
      } catch (error) {
        throw unavailable(error);
      }
    },
    atomically: commits.atomically,
    claimDue,
    signals: null,
    async lastSeq() {
      const row = client
        .query<{ seq: number }, []>("select seq from sqlite_sequence where name = 'notifications'")
        .get();
      return row?.seq ?? 0;
    },
    async continueAfter(seq) {
      client.run("delete from sqlite_sequence where name = 'notifications' and seq < ?", [seq]);
      client.run(
        "insert into sqlite_sequence (name, seq) select 'notifications', ? where not exists (select 1 from sqlite_sequence where name = 'notifications')",
        [seq],
      );
    },
    async close() {
      await commits.close();
      client.close();
    },
  };
}

function connect(file: string): Database {
  const inMemory = file === ":memory:";
  if (!inMemory) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const client = new Database(file, { create: true, strict: true });
  if (!inMemory) chmodSync(file, 0o600);
  client.run(`pragma busy_timeout = ${busyTimeoutMs}`);
  client.run("pragma journal_mode = wal");
  // FULL syncs the log on every commit: what we acknowledged survives a power cut.
  client.run("pragma synchronous = full");
  client.run("pragma mmap_size = 1073741824");
  return client;
}

/**
 * Throws `unavailable` once the file was removed or replaced. SQLite would go on writing to the one
 * that it has open, and what we acknowledge would be gone with this process.
 */
function inPlace(file: string): () => void {
  if (file === ":memory:") return () => {};
  // The log beside it is as much the database as the file is; it stays the same one while it is open.
  const files = [file, `${file}-wal`];
  const opened = files.map((name) => statSync(name));
  return () => {
    const inPlace = files.every((name, index) => isSame(statOf(name), opened[index]));
    if (inPlace) return;
    throw new AppError("unavailable", "The database cannot be used at the moment; try again", {
      retryAfterSeconds: 60,
      cause: new Error(`The database file ${file} was removed or replaced: start skyhook again`),
    });
  };
}

function isSame(found: Stats | undefined, opened: Stats | undefined): boolean {
  return found?.ino === opened?.ino && found?.dev === opened?.dev;
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

/** Compiles each statement once, on its first use. */
function compiler(client: Database): Compile {
  // Guarantee: Sql lists only methods that Drizzle's SQLite builders have, with the same meaning;
  // the storage suite runs every statement of the program through it.
  const shared = drizzle(client) as unknown as Sql;
  const parameters = new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) });
  const compiled = new Map<Statement<never, unknown>, Run>();
  return (statement) => {
    let run = compiled.get(statement);
    if (run === undefined) {
      // Guarantee: the proxy answers every name with its placeholder, so with those of any Values.
      const query = statement.build(shared, tables, parameters as never, dialect);
      run = prepared(client, query as SqliteBuilder);
      compiled.set(statement, run);
    }
    return run;
  };
}

// Guarantee: the rows came from running this very statement, whose type says what they are.
function rowsOf<Row>(_: Statement<never, Row>, rows: readonly unknown[]): Row[] {
  return rows as Row[];
}
