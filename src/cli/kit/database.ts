import { existsSync, statSync } from "node:fs";

import { errorCode } from "../../base/errors.ts";
import { programName } from "../../base/program-name.ts";
import type { Config } from "../../config/config.ts";
import { personalDataKeyFile, tokenKeyFile } from "../../config/secrets.ts";
import { databaseFile, openStorage } from "../../db/open.ts";
import { isLocked } from "../../db/sqlite/errors.ts";
import { requireServedFiles } from "../../db/sqlite/server-lock.ts";
import type { Storage } from "../../db/storage.ts";
import { schema } from "../../schema/schema.ts";

import { messageOf } from "./errors.ts";

/** How long a command waits for another process's lock on the database. */
const lockPatienceMs = 5_000;
const lockRetryMs = 20;

/** Whether the database exists only in the memory of the process that opens it. */
export function isInMemory({ databaseUrl }: Pick<Config, "databaseUrl">): boolean {
  return databaseUrl === "sqlite::memory:";
}

/** Opens the configured database, which a server may be using. Throws an error that says what to do. */
export function openDatabase(config: Config): Promise<Storage> {
  const file = databaseFile(config.databaseUrl);
  return withDatabase(config, () => {
    requireNotEmptied(config);
    if (file !== null) requireServedFiles(file);
    return openStorage(schema, config.databaseUrl, config.databaseLimits);
  });
}

/**
 * Throws if the database file has 0 bytes but was in use before. SQLite would take it for a new database and
 * delete its log. A killed first start may leave an empty file too, but no keys: they are created later.
 */
export function requireNotEmptied({ databaseUrl, dataDir }: Config): void {
  const file = databaseFile(databaseUrl);
  if (file === null || bytesOf(file) !== 0) return;
  const log = `${file}-wal`;
  const keys = [tokenKeyFile(dataDir), personalDataKeyFile(dataDir)];
  const traces = [
    ...keys.filter((key) => existsSync(key)),
    ...((bytesOf(log) ?? 0) > 0 ? [log] : []),
  ];
  if (traces.length === 0) return;
  throw new Error(
    `The database ${file} has 0 bytes, but was in use before (${traces.join(", ")}): its data is lost. Restore a backup with \`${programName} restore FILE --force\`, or remove ${file} to start without data`,
  );
}

/** Null if the file is missing. */
function bytesOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}

/** Opens the configured database for `use`, and closes it. Throws if it would be a new one in memory, which is then lost. */
export async function useDatabase<Result>(
  config: Config,
  use: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  if (isInMemory(config)) {
    throw new Error(
      "The database is in memory, where only its server reaches it: set DATABASE_URL to keep it in a file, for the demo too",
    );
  }
  return useAnyDatabase(config, use);
}

export async function useAnyDatabase<Result>(
  config: Config,
  use: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  const storage = await openDatabase(config);
  try {
    return await use(storage);
  } finally {
    await storage.close();
  }
}

/**
 * Calls `open`, which opens the configured database, and retries while another process has it locked. Throws
 * an error that says what to do.
 */
export async function withDatabase<Opened>(
  config: Config,
  open: () => Promise<Opened>,
): Promise<Opened> {
  const deadlineMs = performance.now() + lockPatienceMs;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!isLocked(error) || performance.now() > deadlineMs) throw withAdvice(error, config);
      await Bun.sleep(lockRetryMs);
    }
  }
}

/** Error codes, grouped by the advice to give. */
const unreadable = ["SQLITE_NOTADB", "SQLITE_CORRUPT"];
const locked = ["SQLITE_BUSY", "SQLITE_LOCKED"];
const shortened = ["SQLITE_IOERR_SHORT_READ"];
const diskFaults = ["SQLITE_FULL", "SQLITE_IOERR", "ENOSPC", "EIO"];
const inaccessible = ["SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM"].concat(
  ["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "EISDIR", "EEXIST"], // folder or key file
);

/** Adds advice to an error of opening the database or its folder; returns other errors unchanged. */
export function withAdvice(error: unknown, config: Config): unknown {
  const code = errorCode(error) ?? "";
  const is = (group: readonly string[]) => group.some((known) => code.startsWith(known));
  const what = `The database ${databaseFile(config.databaseUrl) ?? "in memory"}`;
  const why = `(${messageOf(error)})`;
  const advice = is(unreadable)
    ? `${what} cannot be read ${why}: restore a backup, or set DATABASE_URL to another file`
    : is(shortened)
      ? `${what} or its log is truncated ${why}: stop the server that has it open, then start skyhook again`
      : is(locked)
        ? `${what} is locked by another program: try again when that has finished`
        : is(diskFaults)
          ? `${what} cannot be used ${why}: check the disk and its free space`
          : is(inaccessible)
            ? `${what} or DATA_DIR (${config.dataDir}) cannot be opened ${why}: make both writable for this user, or change DATABASE_URL and DATA_DIR`
            : null;
  return advice === null ? error : new Error(advice, { cause: error });
}
