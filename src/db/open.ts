import { AppError } from "../base/errors.ts";

import type { Schema } from "./schema.ts";
import { hold } from "./sqlite/hold.ts";
import { openSqlite } from "./sqlite/open.ts";
import type { Hold, ServerLimits, Storage, StorageObserver } from "./storage.ts";

const defaultLimits: ServerLimits = {
  poolSize: 10,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  retryMs: 2_000,
};

/** Does nothing. */
export const noObserver: StorageObserver = {
  migrated() {},
  warning() {},
  transactionWaits: () => null,
  groupCommitted() {},
};

const sqliteUrl = /^sqlite:(.+)$/;

/** The file of a database; null for a database in memory or on a server. */
export function databaseFile(url: string): string | null {
  const [, file = ":memory:"] = sqliteUrl.exec(url) ?? [];
  return file === ":memory:" ? null : file;
}

/**
 * Opens the database at `url` and migrates it to `schema`. Throws an `Error` with a message of one line when
 * the URL has an unknown scheme, the server is unusable, the database is newer than the program, or a copy
 * into it is unfinished.
 */
export function openStorage(
  schema: Schema,
  url: string,
  limits: ServerLimits = defaultLimits,
  observer: StorageObserver = noObserver,
): Promise<Storage> {
  return open(schema, url, limits, observer, false);
}

/** Like `openStorage`, but accepts a database with an unfinished copy, so that the copy can be repeated. */
export function openCopyTarget(
  schema: Schema,
  url: string,
  limits: ServerLimits,
): Promise<Storage> {
  return open(schema, url, limits, noObserver, true);
}

/**
 * Blocks all writes to the database at `url`, which exists and has `schema`, until the hold is released.
 * Throws when another connection keeps writing or holds the lock until the timeout.
 */
export async function holdStill(schema: Schema, url: string, limits: ServerLimits): Promise<Hold> {
  const [, file] = sqliteUrl.exec(url) ?? [];
  if (file !== undefined) return hold(file);
  const server = await import("./postgres/hold.ts");
  return server.hold(schema, url, limits);
}

async function open(
  schema: Schema,
  url: string,
  limits: ServerLimits,
  observer: StorageObserver,
  isForCopy: boolean,
): Promise<Storage> {
  const [, file] = sqliteUrl.exec(url) ?? [];
  if (file !== undefined) return openSqlite(schema, file, observer, isForCopy);
  if (/^postgres(ql)?:/.test(url)) {
    // Imported only when needed: loading it takes a tenth of the start time.
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres(schema, url, limits, observer, isForCopy);
  }
  throw new AppError("internal", 'DATABASE_URL must start with "sqlite:" or "postgres:"');
}
