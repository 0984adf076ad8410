import { SQL } from "bun";

/** The server that tests use when one is given: each test works in a schema of its own. */
const given = process.env["TEST_POSTGRES_URL"]?.trim() || null;

/** Why tests that need several connections are skipped; null when they run. */
export const noManyConnections =
  given === null
    ? "PGlite has one connection: set TEST_POSTGRES_URL=postgres://user@host/database to run it"
    : null;

/** How many connections a pool may have. */
export const testPoolSize = given === null ? 1 : 3;

/** A database for one test or one file of tests. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  /** Runs a statement of the test's own; its rows. */
  run(text: string): Promise<Record<string, unknown>[]>;
  /** To be called before it is opened once more: the one session of PGlite has a memory. */
  renew(): Promise<void>;
  /** Forgets all rows, and counts from one again. No storage may be open on PGlite meanwhile. */
  empty(): Promise<void>;
}

const tablesOfSchema =
  "select table_name from information_schema.tables where table_schema = current_schema() and table_name <> 'migrations'";

/** Makes an empty database: a schema on the given server, or PGlite behind a socket. */
export function postgresDatabase(): Promise<TestDatabase> {
  return given === null ? bundledDatabase() : schemaOn(given);
}

async function schemaOn(server: string): Promise<TestDatabase> {
  const schema = `skyhook_test_${crypto.randomUUID().replaceAll("-", "")}`;
  const url = new URL(server);
  url.searchParams.set("search_path", schema);
  // By which a test finds the connections to its own database.
  url.searchParams.set("application_name", schema.slice(0, 63));
  const sql = new SQL(url.href, { max: 1, connection: { client_min_messages: "warning" } });
  const run = async (text: string) => {
    const rows: Record<string, unknown>[] = await sql.unsafe(text);
    return rows.map((row) => ({ ...row }));
  };
  await run(`create schema ${schema}`);
  return {
    url: url.href,
    run,
    renew: () => Promise.resolve(),
    empty: () => emptied(run),
    async [Symbol.asyncDispose]() {
      await run(`drop schema ${schema} cascade`);
      await sql.close();
    },
  };
}

/** PostgreSQL itself compiled to WebAssembly, for tests without a server. It has one session in all. */
async function bundledDatabase(): Promise<TestDatabase> {
  const { PGlite } = await import("@electric-sql/pglite");
  const { PGLiteSocketServer } = await import("@electric-sql/pglite-socket");
  const db = await PGlite.create();
  // One at a time is used, but the server counts those that have just been closed.
  const maxConnections = 100;
  const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections });
  await server.start();
  const run = async (text: string) => {
    const { rows } = await db.query<Record<string, unknown>>(text);
    return rows;
  };
  const renew = async () => {
    // The next connection is the same session, and gives its statements the same names.
    await run("deallocate all");
  };
  return {
    url: `postgres://postgres:postgres@${server.getServerConn()}/postgres`,
    run,
    renew,
    async empty() {
      await renew();
      await emptied(run);
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await db.close();
    },
  };
}

async function emptied(run: TestDatabase["run"]): Promise<void> {
  const rows = await run(tablesOfSchema);
  if (rows.length === 0) return;
  await run(`truncate ${rows.map((row) => row["table_name"]).join()}`);
  await run("alter sequence notifications_seq restart");
  await run("alter sequence flights_id restart");
}
