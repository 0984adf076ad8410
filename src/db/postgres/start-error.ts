import { SQL } from "bun";

import { errorMessage } from "../../base/errors.ts";
import { UnfitDatabase } from "../schema.ts";

import { MissingAbility } from "./abilities.ts";
import { ReadOnlyServer, SharedSession } from "./check-server.ts";
import { timeouts } from "./connect.ts";
import { isConnectionError, isTlsError, NoAnswer, sqlStateOf } from "./errors.ts";

/** Startup parameters that PgBouncer rejects unless it is configured to ignore them. */
const poolerIgnores = Object.keys(timeouts(0)).join();

/** Returns an error that says in one line why the database cannot be opened and what to do. Shows no password. */
export function startError(error: unknown, url: string): Error {
  // Its message already says what to do, and DATABASE_URL is not the cause.
  if (error instanceof UnfitDatabase) return error;
  const { hostname, port, pathname, username } = new URL(url);
  const server = `The PostgreSQL server at ${hostname || "localhost"}:${port || 5432}`;
  const database = `the database "${decodeURIComponent(pathname.slice(1)) || username}"`;
  const role = `the role "${decodeURIComponent(username) || "postgres"}"`;
  const why = errorMessage(error).replaceAll(/\s*\n\s*/g, " ");
  const line = () => {
    if (isTlsError(error)) {
      return `${server} failed TLS verification (${why}): set sslrootcert=<file> to its CA in DATABASE_URL, and use the host name of its certificate`;
    }
    if (error instanceof SQL.PostgresError && error.code === "ERR_POSTGRES_TLS_NOT_AVAILABLE") {
      return `${server} does not support TLS: turn its ssl on, or remove sslmode from DATABASE_URL`;
    }
    if (isConnectionError(error)) {
      return `${server} does not answer (${why}): start it, or check host and port in DATABASE_URL`;
    }
    if (error instanceof NoAnswer) {
      return `${server} accepts connections but does not answer: if it is behind a pooler, raise the pool size`;
    }
    if (error instanceof SharedSession) {
      return `${server} is behind a pooler that shares sessions (for example pool_mode = transaction): use session mode for this database, or set DATABASE_URL to the server itself`;
    }
    if (error instanceof ReadOnlyServer || sqlStateOf(error) === "25006") {
      return `${server} is read-only (a standby, or default_transaction_read_only is on): set DATABASE_URL to the primary`;
    }
    if (error instanceof MissingAbility) {
      return `${server} is not PostgreSQL, or a part of it is replaced: it lacks ${why}. Use PostgreSQL itself`;
    }
    if (why.startsWith("unsupported startup parameter")) {
      return `${server} is a pooler that rejects startup parameters (${why}): set ignore_startup_parameters = ${poolerIgnores} in its configuration, and search_path for the role`;
    }
    switch (sqlStateOf(error)) {
      case "28P01":
      case "28000":
        return `${server} rejects ${role} (${why}): check user and password in DATABASE_URL, and its pg_hba.conf`;
      case "3D000":
        return `${server} has no ${database.slice(4)}: create it with createdb, or correct its name in DATABASE_URL`;
      case "42501":
        return `${server} does not let ${role} use ${database} (${why}): grant it connect on the database (create too, for upgrade --check) and usage and create on its schema, or, for a role that creates no tables, the privileges of deploy/postgres-roles.sql (docs/postgresql.md)`;
      case "53300":
        return `${server} has no free connections (${why}): lower DATABASE_POOL_SIZE, or raise its max_connections`;
      default:
        return `${server} cannot be used (${why}): check DATABASE_URL`;
    }
  };
  return new Error(line(), { cause: error });
}
