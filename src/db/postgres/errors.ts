import { SQL } from "bun";

import { AppError } from "../../base/errors.ts";

/** Seconds after which a client may try again. */
const retryAfterSeconds = 5;

/** SQLSTATE of a role that may not do something with a table or a sequence. */
const lacksRight = "42501";
/** SQLSTATEs of a server that cannot be used now, whatever the statement was (PostgreSQL, appendix A). */
const unusableStates = [
  "08", // connection
  "25006", // read only: a standby, or a server that is being changed over
  "28", // authorization: the role or its password was changed
  "3D000", // the database is gone
  lacksRight,
  "53", // out of disk, memory or connections
  "55000", // the database takes no connections, as while it is brought back or renamed
  "55P03", // lock not available
  "57", // cancelled, shutting down, starting up, or a statement that took too long
  "58", // disk
  "XX", // corrupt
];
/** Of those, the transient ones: retried before an error is returned. */
const transient = ["08", "25006", "53300", "57P"];
/** Deadlocks and serialization failures: one of the transactions runs again. */
const collisions = ["40001", "40P01"];

/** The SQLSTATE of an error; null when it does not come from the server. */
export function sqlStateOf(error: unknown): string | null {
  return error instanceof SQL.PostgresError && typeof error.errno === "string" ? error.errno : null;
}

/** True when no answer came: nothing listens, or the connection broke. */
export function isConnectionError(error: unknown): boolean {
  return (
    isTlsError(error) ||
    (sqlStateOf(error) === null &&
      error instanceof SQL.PostgresError &&
      /^ERR_POSTGRES_(CONNECTION|IDLE_TIMEOUT|LIFETIME_TIMEOUT|TLS)/.test(error.code))
  );
}

/**
 * True when no connection by TLS came about: the handshake broke off, or the certificate is not trusted.
 * The driver throws these as plain errors, with a code of the TLS library and 0 as `errno`.
 */
export function isTlsError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof SQL.PostgresError) return false;
  // The file that sslrootcert names is read for every connection.
  if (error instanceof TypeError) return error.message.includes("caFile");
  return "errno" in error && error.errno === 0 && "code" in error && typeof error.code === "string";
}

/** True for an error of the server or connection; false for one of the statement (a constraint, a bug). */
export function isStorageError(error: unknown): boolean {
  if (isConnectionError(error) || error instanceof NoAnswer) return true;
  return begins(error, unusableStates) || isCollision(error);
}

/** True when the same work may succeed a moment later. */
export function isTransient(error: unknown): boolean {
  return isConnectionError(error) || begins(error, transient) || isCollision(error);
}

/** True for an error that only writes meet: no room for rows, or no right to write them. */
export function isOfWrites(error: unknown): boolean {
  return begins(error, [lacksRight, "53100", "53200", "53400", "58"]);
}

/** True for an error of what one transaction uses: those beside it may succeed. */
export function isOfOneTransaction(error: unknown): boolean {
  return begins(error, [lacksRight]);
}

function isCollision(error: unknown): boolean {
  return begins(error, collisions);
}

function begins(error: unknown, codes: readonly string[]): boolean {
  const state = sqlStateOf(error);
  return state !== null && codes.some((code) => state.startsWith(code));
}

/** No answer came in time, not even a statement timeout: the server or the network hangs. */
export class NoAnswer extends Error {
  constructor(ms: number) {
    super(`The server gave no answer for ${ms} ms`);
  }
}

/** The answer. Throws `NoAnswer` when none comes within `ms`, after it called `onSilence`. */
export async function answerWithin<Answer>(
  answer: Promise<Answer>,
  ms: number,
  onSilence: () => void = () => {},
): Promise<Answer> {
  const silent = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    onSilence();
    silent.reject(new NoAnswer(ms));
  }, ms);
  try {
    return await Promise.race([answer, silent.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A database error as the `unavailable` that clients may retry; any other error as it is. */
export function unavailable(error: unknown): unknown {
  return isStorageError(error) ? unusable(error) : error;
}

/** The cause is for logs and commands; the server's own message alone would not say what it is about. */
export function unusable(error: unknown): AppError {
  const why = error instanceof Error ? error.message : String(error);
  return new AppError("unavailable", "The database cannot be used at the moment; try again", {
    retryAfterSeconds,
    cause: new Error(`The PostgreSQL server cannot be used at the moment; try again (${why})`, {
      cause: error,
    }),
  });
}
