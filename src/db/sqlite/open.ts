import { Database } from "bun:sqlite";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

import { rowsOf } from "../compiler.ts";
import type { Schema } from "../schema.ts";
import type { Storage, StorageObserver } from "../storage.ts";

import { closer, compilerOf } from "./compile.ts";
import { unavailable } from "./errors.ts";
import { groupCommit } from "./group-commit.ts";
import { inPlace } from "./in-place.ts";
import { migrate } from "./migrate.ts";

/** How long a call blocks inside SQLite for another process's lock; longer waits do not block the event loop. */
const busyTimeoutMs = 25;

/** Connections that must not be closed or garbage-collected, because that would checkpoint their log. */
const leftOpen: Database[] = [];

/** Opens the database in `file`, and creates it if it is missing. `:memory:` opens one in memory. */
export function openSqlite(
  schema: Schema,
  file: string,
  observer: StorageObserver,
  isForCopy: boolean,
): Storage {
  const { client, close, migrated } = openCurrent(schema, file, isForCopy);
  if (migrated.length > 0) observer.migrated(migrated);
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
    // SQLite makes a commit readable only after it is on disk.
    async settled() {},
    signals: null,
    async close() {
      await commits.close();
      if (isClosed) return;
      isClosed = true;
      if (place.mayCheckpoint()) close();
      else leftOpen.push(client);
    },
  };
}

/** Closes the connection before it throws, because callers that wait for a lock retry. */
function openCurrent(schema: Schema, file: string, isForCopy: boolean) {
  const inMemory = file === ":memory:";
  if (!inMemory) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const client = new Database(file, { create: true, strict: true });
  const close = closer(client);
  try {
    if (!inMemory) chmodSync(file, 0o600);
    configure(client);
    return { client, close, migrated: migrate(client, schema, isForCopy) };
  } catch (error) {
    close();
    throw error;
  }
}

function configure(client: Database): void {
  client.run(`pragma busy_timeout = ${busyTimeoutMs}`);
  client.run("pragma journal_mode = wal");
  // FULL syncs the log on every commit, so acknowledged data survives a power failure.
  client.run("pragma synchronous = full");
  client.run("pragma mmap_size = 1073741824");
}
