import { Database, type Statement as Prepared } from "bun:sqlite";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

import { rowsOf } from "../compiler.ts";
import { type Schema, unfinishedCopy } from "../schema.ts";
import type { Storage, StorageObserver } from "../storage.ts";

import { compilerOf } from "./compile.ts";
import { unavailable } from "./faults.ts";
import { groupCommit } from "./group-commit.ts";
import { inPlace } from "./in-place.ts";
import { migrate } from "./migrate.ts";

/** How long a call waits inside SQLite for another process's lock; longer waits leave the loop free. */
const busyTimeoutMs = 25;

/** Those that must not be closed, which would fold their log. Nor may they be collected as garbage. */
const leftOpen: Database[] = [];

/** Opens (and makes, if missing) the database in `file`, or one in memory for `:memory:`. */
export function openSqlite(
  schema: Schema,
  file: string,
  observer: StorageObserver,
  isForCopy: boolean,
): Storage {
  const { client, close, steps } = openCurrent(schema, file, isForCopy);
  if (steps.length > 0) observer.migrated(steps);
  const compile = compilerOf(client);
  const place = inPlace(file, client);
  let isClosed = false;
  const commits = groupCommit(client, compile, () => place.require(), observer);
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
    // Nothing can be read before it is on disk.
    async settled() {},
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
    async isHalfCopied() {
      return client.query("select 1 from migrations where name = ?").get(unfinishedCopy) !== null;
    },
    async setHalfCopied(isHalf) {
      client.run(
        isHalf
          ? "insert into migrations (name) values (?) on conflict do nothing"
          : "delete from migrations where name = ?",
        [unfinishedCopy],
      );
    },
    async holdStill() {
      client.run("begin immediate");
      return async () => {
        if (!client.inTransaction) throw new Error(`${file} was not held still`);
      };
    },
    async close() {
      await commits.close();
      if (isClosed) return;
      isClosed = true;
      if (place.mayFold()) close();
      else leftOpen.push(client);
    },
  };
}

/** Leaves nothing open when it throws: whoever waits for a lock tries again and again. */
function openCurrent(schema: Schema, file: string, isForCopy: boolean) {
  const inMemory = file === ":memory:";
  if (!inMemory) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const client = new Database(file, { create: true, strict: true });
  const close = closer(client);
  try {
    if (!inMemory) chmodSync(file, 0o600);
    configure(client);
    return { client, close, steps: migrate(client, schema, isForCopy) };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * To be called before statements are made: closes the connection together with them. One that is left
 * keeps the file open until it is collected as garbage, and others find the database in use.
 */
function closer(client: Database): () => void {
  const statements: Pick<Prepared, "finalize">[] = [];
  const prepare = client.prepare.bind(client);
  // Guarantee: it takes and returns what the method does.
  client.prepare = ((...query: Parameters<typeof prepare>) => {
    const statement = prepare(...query);
    statements.push(statement);
    return statement;
  }) as typeof prepare;
  return () => {
    for (const statement of statements.splice(0)) statement.finalize();
    client.close();
  };
}

function configure(client: Database): void {
  client.run(`pragma busy_timeout = ${busyTimeoutMs}`);
  client.run("pragma journal_mode = wal");
  // FULL syncs the log on every commit: what we acknowledged survives a power cut.
  client.run("pragma synchronous = full");
  client.run("pragma mmap_size = 1073741824");
}
