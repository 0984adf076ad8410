import { Database } from "bun:sqlite";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";

import { until } from "../../support/app.ts";
import { noManyConnections, postgresDatabase } from "../../support/databases.ts";
import { databaseIn } from "../../support/load.ts";
import { movableAddress } from "../../support/movable-address.ts";
import { type OwnPostgres, ownPostgres } from "../../support/own-postgres.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { skips } from "../../support/skips.ts";

import { onPostgres, onSqlite } from "./ids-in-sql.ts";

export type Row = Readonly<Record<string, unknown>>;
type Rows = readonly Row[];

/** A kind of database that the searches run on. */
export interface DatabaseKind {
  readonly name: "SQLite" | "PostgreSQL";
  /** The module that is loaded before the program to kill it at crash points. */
  readonly preload: string;
  /** True if the process can die during a commit, and if a dead process keeps its leases. */
  readonly isServer: boolean;
  /** Creates an empty database. Its files go to `folder`. */
  make(folder: string): Promise<TestedDatabase>;
}

export interface TestedDatabase {
  /** The value of DATABASE_URL. */
  readonly url: string;
  /** Runs a statement. */
  run(sql: string): Promise<Rows>;
  /** Returns the rows of queries at one moment. */
  snapshot(queries: readonly string[]): Promise<readonly Rows[]>;
  /** Reads what dead processes have left, without recovery, which the next start does. */
  left<Result>(look: (left: Left) => Promise<Result>): Promise<Result>;
  /** Breaks all connections of the program; null for a file. */
  readonly cutConnections: (() => Promise<void>) | null;
  remove(): Promise<void>;
}

export interface Left {
  /** The SQL may call `id_of`, see ids-in-sql.ts. */
  rows(sql: string): Promise<Rows>;
  /** Every table and index with its definition. */
  schema(): Promise<Rows>;
  /** The errors of the database's own integrity check; empty for an intact one. */
  damage(): Promise<readonly string[]>;
}

export const sqlite: DatabaseKind = {
  name: "SQLite",
  preload: join(import.meta.dir, "sqlite-preload.ts"),
  isServer: false,
  async make(folder) {
    const file = databaseIn(folder);
    const snapshot = async (queries: readonly string[]) => {
      using client = new Database(file);
      return client.transaction(() => queries.map((sql) => client.query<Row, []>(sql).all()))();
    };
    return {
      url: `sqlite:${file}`,
      run: async (sql) => (await snapshot([sql])).flat(),
      snapshot,
      async left(look) {
        // Opens a copy, since closing the original would checkpoint its log.
        const copies = temporaryFolder();
        const copy = join(copies, "copy.db");
        for (const suffix of ["", "-wal"]) {
          if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix);
        }
        try {
          using client = new Database(copy, { create: true });
          return await look(leftIn(client));
        } finally {
          removeFolder(copies);
        }
      },
      cutConnections: null,
      remove: async () => {},
    };
  },
};

/** What an open file has. */
export function leftIn(client: Database): Left {
  const rows = (sql: string) => client.query<Row, []>(onSqlite(sql)).all();
  return {
    rows: async (sql) => rows(sql),
    schema: async () => rows("select type, name, tbl_name, sql from sqlite_schema order by 1, 2"),
    async damage() {
      const found = client.query("pragma integrity_check").values().flat().map(String);
      return found.filter((line) => line !== "ok");
    },
  };
}

const postgres: DatabaseKind = {
  name: "PostgreSQL",
  preload: join(import.meta.dir, "postgres-preload.ts"),
  isServer: true,
  async make() {
    const database = await postgresDatabase();
    return {
      ...onServer(database.url, (sql) => database.run(sql)),
      remove: async () => database[Symbol.asyncDispose](),
    };
  },
};

/** All kinds that are available on this machine. */
export const databases = (): readonly DatabaseKind[] =>
  skips(noManyConnections) ? [sqlite] : [sqlite, postgres];

/** A server of its own at an address that can move to a standby. */
export interface OwnServer extends DatabaseKind {
  crash(): Promise<void>;
  start(): Promise<void>;
  /**
   * Crashes the server, moves its address to a standby, and promotes the standby. Replication is synchronous, so the
   * standby has everything acknowledged.
   */
  failOver(): Promise<void>;
}

export async function ownServer(): Promise<OwnServer> {
  const server = await ownPostgres();
  const address = await movableAddress(server.url);
  const named = (url: string) => `${url}?application_name=skyhook_test`;
  let holder: Pick<OwnPostgres, "url"> = server;
  return {
    ...postgres,
    crash: () => server.crash(),
    start: () => server.start(),
    async failOver() {
      const standby = await server.addStandby();
      await server.crash();
      address.moveTo(standby.url);
      holder = standby;
      await standby.promote();
    },
    make: async () => ({
      ...onServer(named(address.url), async (sql) => {
        await using client = new Bun.SQL(named(holder.url), { max: 1 });
        const rows: Row[] = await client.unsafe(sql);
        return rows;
      }),
      async remove() {
        address.stop();
        await server.end();
      },
    }),
  };
}

/** The connections of the program to a test's database. */
const ofProgram =
  "where application_name = current_setting('application_name') and pid <> pg_backend_pid()";
/** A margin for busy machines. */
const patienceMs = 60_000;

const schemaOnServer = `
  select 'table' as type, table_name as name,
    string_agg(concat_ws(' ', column_name, data_type, collation_name, is_nullable, column_default), ', '
      order by ordinal_position) as made_of
  from information_schema.columns where table_schema = current_schema() group by table_name
  union all select 'index', indexname, indexdef from pg_indexes where schemaname = current_schema()
  union all select 'constraint', conname, pg_get_constraintdef(oid) from pg_constraint
    where connamespace = current_schema()::regnamespace
  union all select 'function', proname, pg_get_functiondef(oid) from pg_proc
    where pronamespace = current_schema()::regnamespace
  union all select 'sequence', sequencename, data_type::text from pg_sequences
    where schemaname = current_schema()
  order by 1, 2, 3`;

function onServer(
  url: string,
  run: (sql: string) => Promise<Rows>,
): Omit<TestedDatabase, "remove"> {
  // As JSON, because the driver returns a bigint as text.
  const rows = async (sql: string) => {
    const found = await run(`select to_jsonb(found) as row from (${onPostgres(sql)}) found`);
    return found.map(({ row }): Row => ({ ...Object(row) }));
  };
  const ownSchema = new URL(url).searchParams.get("search_path") ?? "public";
  const left: Left = {
    rows,
    async schema() {
      const found = await rows(schemaOnServer);
      return found.map((row) => ({
        ...row,
        made_of: String(row["made_of"]).replaceAll(ownSchema, "own"),
      }));
    },
    // Only the client died, and it cannot damage the server's files.
    damage: async () => [],
  };
  return {
    url,
    run,
    async snapshot(queries) {
      const found: Rows[] = [];
      await run("begin isolation level repeatable read read only");
      for (const query of queries) found.push(await rows(query));
      await run("commit");
      return found;
    },
    async left(look) {
      // The server rolls back the open transactions of a dead process when it notices its death.
      const open = () => run(`select pid from pg_stat_activity ${ofProgram}`);
      await until(async () => (await open()).length === 0, patienceMs);
      return look(left);
    },
    async cutConnections() {
      await run(`select pg_terminate_backend(pid) from pg_stat_activity ${ofProgram}`);
    },
  };
}
