import { SQL } from "bun";

import { AppError } from "../../base/errors.ts";

/** Seconds after which a client may try again. */
const retryAfterSeconds = 5;

/** SQLSTATE of a role that may not do something with a table or a sequence. */
const lacksRight = "42501";
/** SQLSTATEs of a server that cannot be used now, whatever the statement was (PostgreSQL, appendix A). */
const unusable = [
  "08", // connection
  "25006", // read only: a standby, or a server that is being changed over
  "28", // refused: the role or its password was changed
  "3D000", // the database is gone
  lacksRight,
  "53", // out of disk, memory or connections
  "55000", // the database takes no connections, as while it is brought back or renamed
  "55P03", // lock not available
  "57", // cancelled, shutting down, starting up, or a statement that took too long
  "58", // disk
  "XX", // corrupt
];
/** Of those, what passes by itself within moments: tried again before anybody is told. */
const passing = ["08", "25006", "53300", "57P"];
/** Two units that wait for each other, or cannot be put in order: one of them begins anew. */
const collisions = ["40001", "40P01"];

/** The server's code for an error; null when it has not come from the server. */
export function sqlStateOf(error: unknown): string | null {
  return error instanceof SQL.PostgresError && typeof error.errno === "string" ? error.errno : null;
}

/** True when no answer came: nothing listens, or the connection broke. */
export function isConnectionFault(error: unknown): boolean {
  return (
    isTlsFault(error) ||
    (sqlStateOf(error) === null &&
      error instanceof SQL.PostgresError &&
      /^ERR_POSTGRES_(CONNECTION|IDLE_TIMEOUT|LIFETIME_TIMEOUT|TLS)/.test(error.code))
  );
}

/**
 * True when no connection by TLS came about: the handshake broke off, or the certificate is not trusted.
 * The driver throws these as plain errors, with a code of the TLS library and 0 as `errno`.
 */
export function isTlsFault(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof SQL.PostgresError) return false;
  // The file that sslrootcert names is read for every connection.
  if (error instanceof TypeError) return error.message.includes("caFile");
  return "errno" in error && error.errno === 0 && "code" in error && typeof error.code === "string";
}

/** True for a fault of server or connection; false for one of the statement (a constraint, a bug). */
export function isStorageFault(error: unknown): boolean {
  if (isConnectionFault(error) || error instanceof Silence) return true;
  return begins(error, unusable) || isCollision(error);
}

/** True when the same work may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  return isConnectionFault(error) || begins(error, passing) || isCollision(error);
}

/** True for a fault that only real writes meet: room for rows is lacking, or the right to write them. */
export function isOfRows(error: unknown): boolean {
  return begins(error, [lacksRight, "53100", "53200", "53400", "58"]);
}

/** True for a fault of what one unit uses: those beside it may succeed. */
export function isOfUnit(error: unknown): boolean {
  return begins(error, [lacksRight]);
}

function isCollision(error: unknown): boolean {
  return begins(error, collisions);
}

function begins(error: unknown, codes: readonly string[]): boolean {
  const state = sqlStateOf(error);
  return state !== null && codes.some((code) => state.startsWith(code));
}

/** No answer came in time, not even that it took too long: the server hangs, or the network does. */
export class Silence extends Error {
  constructor(ms: number) {
    super(`The server gave no answer for ${ms} ms`);
  }
}

/** The answer, or a `Silence` when none comes within `ms`; then `onSilence` is called first. */
export async function answered<Answer>(
  answer: Promise<Answer>,
  ms: number,
  onSilence: () => void = () => {},
): Promise<Answer> {
  const silent = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    onSilence();
    silent.reject(new Silence(ms));
  }, ms);
  try {
    return await Promise.race([answer, silent.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A storage fault as the `unavailable` that clients may retry; any other error as it is. Its cause is for
 * logs and commands: what the server said alone does not tell a reader what it was about.
 */
export function unavailable(error: unknown): unknown {
  if (!isStorageFault(error)) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new AppError("unavailable", "The database cannot be used at the moment; try again", {
    retryAfterSeconds,
    cause: new Error(`The PostgreSQL server cannot be used at the moment; try again (${why})`, {
      cause: error,
    }),
  });
}
