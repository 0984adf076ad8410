import { UnfitDatabase } from "../applied.ts";

import { isConnectionFault, sqlStateOf } from "./faults.ts";

/** Why the database cannot be opened, with what to do about it, on one line and without the password. */
export function startFault(error: unknown, url: string): Error {
  // It says what to do, and that is not to be found in DATABASE_URL.
  if (error instanceof UnfitDatabase) return error;
  const { hostname, port, pathname, username } = new URL(url);
  const server = `The PostgreSQL server at ${hostname || "localhost"}:${port || 5432}`;
  const database = `the database "${decodeURIComponent(pathname.slice(1)) || username}"`;
  const role = `the role "${decodeURIComponent(username) || "postgres"}"`;
  const why = error instanceof Error ? error.message.replaceAll(/\s*\n\s*/g, " ") : String(error);
  const line = () => {
    if (isConnectionFault(error)) {
      return `${server} does not answer (${why}): start it, or check host and port in DATABASE_URL`;
    }
    switch (sqlStateOf(error)) {
      case "28P01":
      case "28000":
        return `${server} refuses ${role} (${why}): check user and password in DATABASE_URL, and its pg_hba.conf`;
      case "3D000":
        return `${server} has no ${database.slice(4)}: make it with createdb, or name another in DATABASE_URL`;
      case "42501":
        return `${server} does not let ${role} use ${database} (${why}): grant it create on the schema`;
      case "53300":
        return `${server} has no connection left (${why}): lower DATABASE_POOL_SIZE, or raise its max_connections`;
      case "25006":
        return `${server} is a standby, which takes no writes: name the primary in DATABASE_URL`;
      default:
        return `${server} cannot be used (${why}): check DATABASE_URL`;
    }
  };
  return new Error(line(), { cause: error });
}
