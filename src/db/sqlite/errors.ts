import { SQLiteError } from "bun:sqlite";

import { AppError, errorMessage } from "../../base/errors.ts";

const inUse = "Another program has locked the database: if it does not end by itself, stop it";
const diskFails = "The disk failed or is full: free disk space, and check the system log";
const notWritable =
  "The database is not writable: give this user write access to the file and its folder";
const damaged =
  "The database is damaged: stop skyhook, keep a copy of the file, and restore the last backup";

/**
 * The result codes that mean that the database is unusable at the moment, for any statement, each with
 * what an operator can do.
 */
const advice: Readonly<Record<string, string>> = {
  SQLITE_BUSY: inUse,
  SQLITE_LOCKED: inUse,
  SQLITE_FULL: "The disk is full: free disk space; no restart is needed",
  SQLITE_IOERR_SHORT_READ:
    "The database or its log was cut short: stop skyhook, then start it again",
  SQLITE_IOERR: diskFails,
  SQLITE_READONLY: notWritable,
  SQLITE_CANTOPEN: notWritable,
  SQLITE_PERM: notWritable,
  SQLITE_CORRUPT: damaged,
  SQLITE_NOTADB: damaged,
  SQLITE_NOMEM: "Out of memory: give this machine more, or run fewer programs on it",
};

/** The code of a `DatabaseError` whose message is the advice. */
const ownCode = "SKYHOOK_STORAGE";

/** An error in plain data: classes are lost between threads. `code` is null for one that is not SQLite's. */
export interface DatabaseFailure {
  readonly code: string | null;
  readonly message: string;
}

/** An error of a statement or of the database, with SQLite's result code, such as `SQLITE_FULL`. */
class DatabaseError extends Error {
  override readonly name = "DatabaseError";

  constructor(
    readonly code: string | null,
    message: string,
  ) {
    super(message);
  }
}

/** An error that makes the database unusable, for any statement. `whatToDo` is for operators. */
export function storageError(whatToDo: string): DatabaseError {
  return new DatabaseError(ownCode, whatToDo);
}

export function failureOf(error: unknown): DatabaseFailure {
  return { code: codeOf(error), message: errorMessage(error) };
}

export function errorOf({ code, message }: DatabaseFailure): DatabaseError {
  return new DatabaseError(code, message);
}

/** Thrown for a stored value that this program cannot have written. */
export class DamagedValue extends Error {
  override readonly name = "DamagedValue";
}

/** For the Retry-After header: locks and full disks seldom clear sooner. */
const retryAfterSeconds = 5;
/** For errors that last until the program is started again. */
const retryAfterRestartSeconds = 60;

/** True for an error of the disk, the file or a lock; false for a statement's own (a constraint, a bug). */
export function isStorageError(error: unknown): boolean {
  return adviceFor(error) !== undefined;
}

function adviceFor(error: unknown): string | undefined {
  if (error instanceof DamagedValue) return damaged;
  const code = codeOf(error);
  if (code === null) return undefined;
  if (code === ownCode) return error instanceof Error ? error.message : undefined;
  // Extended codes start with the primary one: SQLITE_IOERR_WRITE.
  const primary = Object.keys(advice).find((known) => code.startsWith(known));
  return primary === undefined ? undefined : advice[primary];
}

function codeOf(error: unknown): string | null {
  return error instanceof SQLiteError || error instanceof DatabaseError
    ? (error.code ?? null)
    : null;
}

/** True while another connection holds the lock that a writer needs. */
export function isLocked(error: unknown): boolean {
  return codeOf(error)?.startsWith("SQLITE_BUSY") === true;
}

/**
 * Turns a database error into `unavailable`, which clients may retry. The advice for operators is in its
 * cause, which only the log shows. Returns any other error unchanged.
 */
export function asUnavailable(error: unknown): unknown {
  const whatToDo = adviceFor(error);
  if (whatToDo === undefined) return error;
  return new AppError("unavailable", "The database cannot be used at the moment; try again", {
    retryAfterSeconds: codeOf(error) === ownCode ? retryAfterRestartSeconds : retryAfterSeconds,
    cause: new Error(whatToDo, { cause: error }),
  });
}
