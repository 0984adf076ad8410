import { SQL } from "bun";

import { UnfitDatabase } from "../schema.ts";

import { LentSession, ReadOnlyServer } from "./check-server.ts";
import { timeouts } from "./connect.ts";
import { isConnectionError, isTlsError, NoAnswer, sqlStateOf } from "./errors.ts";

/** Startup parameters that PgBouncer rejects unless it is configured to ignore them. */
const poolerIgnores = Object.keys(timeouts(0)).join();

/** Why the database cannot be opened, with what to do about it, on one line and without the password. */
export function startError(error: unknown, url: string): Error {
  // It says what to do, and that is not to be found in DATABASE_URL.
  if (error instanceof UnfitDatabase) return error;
  const { hostname, port, pathname, username } = new URL(url);
  const server = `The PostgreSQL server at ${hostname || "localhost"}:${port || 5432}`;
  const database = `the database "${decodeURIComponent(pathname.slice(1)) || username}"`;
  const role = `the role "${decodeURIComponent(username) || "postgres"}"`;
  const why = error instanceof Error ? error.message.replaceAll(/\s*\n\s*/g, " ") : String(error);
  const line = () => {
    if (isTlsError(error)) {
      return `${server} is not trusted by TLS (${why}): name its CA by sslrootcert=<file> in DATABASE_URL, and the host as its certificate does`;
    }
    if (error instanceof SQL.PostgresError && error.code === "ERR_POSTGRES_TLS_NOT_AVAILABLE") {
      return `${server} offers no TLS: turn its ssl on, or take sslmode out of DATABASE_URL`;
    }
    if (isConnectionError(error)) {
      return `${server} does not answer (${why}): start it, or check host and port in DATABASE_URL`;
    }
    if (error instanceof NoAnswer) {
      return `${server} lets us connect and then gives no answer: if a pooler stands before it, raise its pool size`;
    }
    if (error instanceof LentSession) {
      return `${server} is reached through a pooler that lends sessions (as pool_mode = transaction does): take session mode for this database, or name the server itself in DATABASE_URL`;
    }
    if (error instanceof ReadOnlyServer || sqlStateOf(error) === "25006") {
      return `${server} takes no writes, as a standby or one with default_transaction_read_only: name the primary in DATABASE_URL`;
    }
    if (why.startsWith("unsupported startup parameter")) {
      return `${server} is a pooler that refuses what we tell a session (${why}): set ignore_startup_parameters = ${poolerIgnores} there, and search_path for the role`;
    }
    switch (sqlStateOf(error)) {
      case "28P01":
      case "28000":
        return `${server} refuses ${role} (${why}): check user and password in DATABASE_URL, and its pg_hba.conf`;
      case "3D000":
        return `${server} has no ${database.slice(4)}: make it with createdb, or name another in DATABASE_URL`;
      case "42501":
        return `${server} does not let ${role} use ${database} (${why}): grant it connect on the database and usage and create on its schema, or what docs/operations.md lists for a role that makes no tables`;
      case "53300":
        return `${server} has no connection left (${why}): lower DATABASE_POOL_SIZE, or raise its max_connections`;
      default:
        return `${server} cannot be used (${why}): check DATABASE_URL`;
    }
  };
  return new Error(line(), { cause: error });
}
