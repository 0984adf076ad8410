import { SQLiteError } from "bun:sqlite";

import { AppError } from "../../base/errors.ts";

const inUse = "Another program holds the database; if it does not end by itself, end it";
const diskFails = "The disk fails or is full: free space there, and look at the system's log";
const notWritable =
  "The database cannot be written: see that this user may write it and its folder";
const damaged =
  "The database is damaged: stop skyhook, keep a copy of the file, and restore the last backup";

/**
 * Result codes that say the database cannot be used now, whatever the statement was, each with what an
 * operator can do about it.
 */
const advice: Readonly<Record<string, string>> = {
  SQLITE_BUSY: inUse,
  SQLITE_LOCKED: inUse,
  SQLITE_FULL: "The disk is full: free space there, and all goes on by itself",
  SQLITE_IOERR_SHORT_READ:
    "The database or its log was cut short: stop skyhook, then start it again",
  SQLITE_IOERR: diskFails,
  SQLITE_READONLY: notWritable,
  SQLITE_CANTOPEN: notWritable,
  SQLITE_PERM: notWritable,
  SQLITE_CORRUPT: damaged,
  SQLITE_NOTADB: damaged,
  SQLITE_NOMEM: "Memory has run out: give this machine more, or run fewer programs on it",
};

/** A stored value that nothing of ours can have written. */
export class DamagedValue extends Error {
  override readonly name = "DamagedValue";
}

/** Seconds after which a client may try again: locks and full disks seldom clear sooner. */
const retryAfterSeconds = 5;

/** True for an error of disk, file or lock; false for one of the statement (a constraint, a bug). */
export function isStorageError(error: unknown): boolean {
  return adviceFor(error) !== undefined;
}

function adviceFor(error: unknown): string | undefined {
  if (error instanceof DamagedValue) return damaged;
  const code = error instanceof SQLiteError ? (error.code ?? "") : "";
  // Extended codes go on after the primary one, as in SQLITE_IOERR_WRITE.
  const primary = Object.keys(advice).find((known) => code.startsWith(known));
  return primary === undefined ? undefined : advice[primary];
}

/** True while another connection holds the lock that a writer needs. */
export function isLocked(error: unknown): boolean {
  return error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY") === true;
}

/**
 * A database error as the `unavailable` that clients may retry, with what to do in its cause, which only
 * the log tells; any other error as it is.
 */
export function unavailable(error: unknown): unknown {
  const whatToDo = adviceFor(error);
  if (whatToDo === undefined) return error;
  return new AppError("unavailable", "The database cannot be used at the moment; try again", {
    retryAfterSeconds,
    cause: new Error(whatToDo, { cause: error }),
  });
}
