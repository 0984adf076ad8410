import { SQL } from "bun";

import { AppError, errorMessage } from "../../base/errors.ts";
import { withTimeout } from "../../base/in-time.ts";

/** For the Retry-After header. */
const retryAfterSeconds = 5;

/** insufficient_privilege: the role may not use a table or sequence. */
export const lacksRight = "42501";
/** SQLSTATEs of a server that is unusable at the moment, for any statement (PostgreSQL, appendix A). */
const unusableStates = [
  "08", // connection
  "25006", // read-only: a standby, or a server during failover
  "28", // authorization: the role or its password was changed
  "3D000", // the database does not exist any more
  lacksRight,
  "53", // out of disk space, memory or connections
  "55000", // the database accepts no connections, for example while it is restored or renamed
  "55P03", // lock not available
  "57", // cancelled, shutting down, starting up, or a statement timeout
  "58", // disk
  "XX", // corrupt
];
/** The transient ones of those: retried before an error is returned. */
const transient = ["08", "25006", "53300", "57P"];
/** Serialization failures and deadlocks: one of the transactions is retried. */
const collisions = ["40001", "40P01"];

/** SQLSTATE query_canceled. Only the statement timeout cancels our statements. */
export const statementTimeout = "57014";

/** The SQLSTATE of an error; null when it does not come from the server. */
export function sqlStateOf(error: unknown): string | null {
  return error instanceof SQL.PostgresError && typeof error.errno === "string" ? error.errno : null;
}

/** True when nothing listens on the port, or the connection broke. */
export function isConnectionError(error: unknown): boolean {
  return (
    isTlsError(error) ||
    (sqlStateOf(error) === null &&
      error instanceof SQL.PostgresError &&
      /^ERR_POSTGRES_(CONNECTION|IDLE_TIMEOUT|LIFETIME_TIMEOUT|TLS)/.test(error.code))
  );
}

/**
 * True when the TLS handshake failed or the certificate is not trusted. The driver throws these as plain
 * errors, with a code of the TLS library and 0 as `errno`.
 */
export function isTlsError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof SQL.PostgresError) return false;
  // The driver reads the file of sslrootcert for every connection.
  if (error instanceof TypeError) return error.message.includes("caFile");
  return "errno" in error && error.errno === 0 && "code" in error && typeof error.code === "string";
}

/** True for an error of the server or the connection; false for a statement's own (a constraint, a bug). */
export function isStorageError(error: unknown): boolean {
  if (isConnectionError(error) || error instanceof NoAnswer) return true;
  return begins(error, unusableStates) || isCollision(error);
}

/** True when a retry may succeed. */
export function isTransient(error: unknown): boolean {
  return isConnectionError(error) || begins(error, transient) || isCollision(error);
}

/** True for an error that only writes can have: no disk space, or no privilege to write. */
export function isOfWrites(error: unknown): boolean {
  return begins(error, [lacksRight, "53100", "53200", "53400", "58"]);
}

/** True for an error that depends on the tables a transaction uses: others in its group may succeed. */
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

/** Thrown when the server sent no answer in time, not even a statement timeout: it or the network hangs. */
export class NoAnswer extends Error {
  constructor(ms: number) {
    super(`The server did not answer for ${ms} ms`);
  }
}

/** Waits for an answer. When none comes within `ms`, calls `onTimeout` and throws `NoAnswer`. */
export function answerWithin<Answer>(
  answer: Promise<Answer>,
  ms: number,
  onTimeout: () => void = () => {},
): Promise<Answer> {
  return withTimeout(answer, ms, () => {
    onTimeout();
    throw new NoAnswer(ms);
  });
}

/** Turns a database error into `unavailable`, which clients may retry. Returns any other error unchanged. */
export function asUnavailable(error: unknown): unknown {
  return isStorageError(error) ? unusableError(error) : error;
}

/** The error of a read that may look at many more rows than it returns. */
export function readError(error: unknown): unknown {
  if (sqlStateOf(error) !== statementTimeout) return asUnavailable(error);
  const detail =
    "This takes too long to read. Add a filter, such as from, or search for a rarer word";
  return new AppError("unavailable", detail, { cause: error });
}

/** Logs and commands show the cause. It names PostgreSQL, which the server's own message does not. */
export function unusableError(error: unknown): AppError {
  const why = errorMessage(error);
  return new AppError("unavailable", "The database cannot be used at the moment; try again", {
    retryAfterSeconds,
    cause: new Error(`The PostgreSQL server cannot be used at the moment; try again (${why})`, {
      cause: error,
    }),
  });
}
