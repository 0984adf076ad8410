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

const nobody: StorageObserver = {
  migrated() {},
  warning() {},
  transactionWaits: () => null,
  groupCommitted() {},
};

const sqliteUrl = /^sqlite:(.+)$/;

/** The file of a database; null when it lives in memory or is a server. */
export function databaseFile(url: string): string | null {
  const [, file = ":memory:"] = sqliteUrl.exec(url) ?? [];
  return file === ":memory:" ? null : file;
}

/**
 * Opens the database at `url` and migrates it to `schema`. Throws an `Error` with one clear line when the
 * URL is of no known kind, the server cannot be used, the database is newer than the program, or a copy
 * into it is unfinished.
 */
export function openStorage(
  schema: Schema,
  url: string,
  limits: ServerLimits = defaultLimits,
  observer: StorageObserver = nobody,
): Promise<Storage> {
  return open(schema, url, limits, observer, false);
}

/** As `openStorage`, to copy into it: also when an earlier copy is unfinished. */
export function openCopyTarget(
  schema: Schema,
  url: string,
  limits: ServerLimits,
): Promise<Storage> {
  return open(schema, url, limits, nobody, true);
}

/**
 * Keeps everybody from writing to the database at `url`, which exists and has `schema`, until the hold is
 * released. Throws when another writes to it or holds it for long.
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
    // Loaded only where it is used: a tenth of the time of a start.
    const { openPostgres } = await import("./postgres/open.ts");
    return openPostgres(schema, url, limits, observer, isForCopy);
  }
  throw new AppError("internal", 'DATABASE_URL must start with "sqlite:" or "postgres:"');
}
