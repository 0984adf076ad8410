import { SQLiteError } from "bun:sqlite";

import { AppError } from "../../errors.ts";

/** Result codes that say the database cannot be used now, whatever the statement was. */
const faults = [
  "SQLITE_BUSY",
  "SQLITE_LOCKED",
  "SQLITE_FULL",
  "SQLITE_IOERR",
  "SQLITE_READONLY",
  "SQLITE_CANTOPEN",
  "SQLITE_CORRUPT",
  "SQLITE_NOTADB",
  "SQLITE_NOMEM",
  "SQLITE_PERM",
];

/** Seconds after which a client may try again: locks and full disks seldom clear sooner. */
const retryAfterSeconds = 5;

/** True for a fault of disk, file or lock; false for a fault of the statement (a constraint, a bug). */
export function isStorageFault(error: unknown): boolean {
  const code = error instanceof SQLiteError ? error.code : undefined;
  return code !== undefined && faults.some((fault) => code.startsWith(fault));
}

/** True while another connection holds the lock that a writer needs. */
export function isLocked(error: unknown): boolean {
  return error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY") === true;
}

/** A storage fault as the `unavailable` that clients may retry; any other error as it is. */
export function unavailable(error: unknown): unknown {
  if (!isStorageFault(error)) return error;
  return new AppError("unavailable", "The database cannot be used at the moment; try again", {
    retryAfterSeconds,
    cause: error,
  });
}
