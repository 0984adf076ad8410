import { SQL } from "bun";

/** A PostgreSQL server for tests, on which each test has its own schema; null: PGlite. */
const given = process.env["TEST_POSTGRES_URL"]?.trim() || null;

/** TEST_DATABASE=postgres runs tests that name no database on PostgreSQL. */
export const defaultDialect = process.env["TEST_DATABASE"] === "postgres" ? "postgres" : "sqlite";

/** Why tests that need several connections are skipped; null when they run. */
export const noManyConnections =
  given !== null
    ? null
    : process.env["SKYHOOK_PROGRAM"]
      ? "the compiled program is tested without PostgreSQL"
      : "PostgreSQL is not running: set TEST_POSTGRES_URL";

/** The maximum number of connections of a pool. */
export const testPoolSize = given === null ? 1 : 3;

/** A database for one test or one test file. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  /** Runs a statement and returns its rows. */
  run(text: string): Promise<Record<string, unknown>[]>;
  /** Call it before reopening the database: PGlite has one session, which keeps prepared statements. */
  renew(): Promise<void>;
  /** Deletes all rows and restarts sequences. On PGlite, no storage may be open. */
  empty(): Promise<void>;
}

const tablesOfSchema =
  "select table_name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE' and table_name <> 'migrations'";
const sequencesOfSchema =
  "select sequence_name from information_schema.sequences where sequence_schema = current_schema()";

/** Databases that an app of this process has left, with the tables of this version. */
const idle: TestDatabase[] = [];

/** An empty database for a whole app: one that a former app has left, if there is one, needs no migrations. */
export async function databaseForApp(): Promise<TestDatabase> {
  const former = idle.pop();
  await former?.empty();
  const database = former ?? (await postgresDatabase());
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      idle.push(database);
    },
  };
}

/** Drops what `databaseForApp` has kept. */
export async function dropIdleDatabases(): Promise<void> {
  for (const database of idle.splice(0)) await database[Symbol.asyncDispose]();
}

/** Creates an empty database: a schema on the given server, or PGlite behind a socket. */
export function postgresDatabase(): Promise<TestDatabase> {
  return given === null ? bundledDatabase() : schemaOn(given);
}

async function schemaOn(server: string): Promise<TestDatabase> {
  const schema = `skyhook_test_${crypto.randomUUID().replaceAll("-", "")}`;
  const url = new URL(server);
  url.searchParams.set("search_path", schema);
  // Identifies the connections to this test's database in pg_stat_activity.
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
      await sql.close({ timeout: 5 });
    },
  };
}

/**
 * Instances of PGlite that tests of this process have left, without tables. Each takes seconds of processor time to
 * start, so they run until the process ends.
 */
const idleInstances: Instance[] = [];

/** PGlite: PostgreSQL compiled to WebAssembly, for tests without a server. It has a single session. */
async function bundledDatabase(): Promise<TestDatabase> {
  const instance = idleInstances.pop() ?? (await startInstance());
  const { url, run } = instance;
  const renew = async () => {
    // The next connection has the same session and uses the same statement names.
    await run("deallocate all");
  };
  return {
    url,
    run,
    renew,
    async empty() {
      await renew();
      await emptied(run);
    },
    async [Symbol.asyncDispose]() {
      await run("rollback");
      await run("discard all");
      await run("drop schema public cascade");
      await run("create schema public");
      idleInstances.push(instance);
    },
  };
}

type Instance = Pick<TestDatabase, "url" | "run">;

async function startInstance(): Promise<Instance> {
  const { PGlite } = await import("@electric-sql/pglite");
  const { PGLiteSocketServer } = await import("@electric-sql/pglite-socket");
  const db = await PGlite.create();
  // One connection is used at a time, but the server also counts recently closed ones.
  const maxConnections = 100;
  const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections });
  await server.start();
  return {
    url: `postgres://postgres:postgres@${server.getServerConn()}/postgres`,
    async run(text) {
      const { rows } = await db.query<Record<string, unknown>>(text);
      return rows;
    },
  };
}

async function emptied(run: TestDatabase["run"]): Promise<void> {
  const rows = await run(tablesOfSchema);
  if (rows.length === 0) return;
  await run(`truncate ${rows.map((row) => row["table_name"]).join()}`);
  for (const { sequence_name: name } of await run(sequencesOfSchema)) {
    await run(`alter sequence ${String(name)} restart`);
  }
}
