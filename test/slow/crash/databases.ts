import { Database } from "bun:sqlite";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";

import { until } from "../../support/app.ts";
import { noManyConnections, postgresDatabase, type TestDatabase } from "../../support/databases.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { skips } from "../../support/skips.ts";

import { onPostgres, onSqlite } from "./ids-in-sql.ts";

/** A kind of database that the suite runs on. */
export interface CrashDatabases {
  readonly name: string;
  /** The module that is loaded before the program to kill it at crash points. */
  readonly preload: string;
  /** True if the process can die during a commit. */
  readonly commitsElsewhere: boolean;
  /** Creates an empty database. Its files go to `folder`. */
  make(folder: string): Promise<CrashDatabase>;
}

export interface CrashDatabase {
  /** The value of DATABASE_URL. */
  readonly url: string;
  /** Reads the database of a dead process without recovery, which the next start does. */
  left(): Promise<Left>;
  /** Expires the leases of a dead process. */
  endLeases(): Promise<void>;
  /** Makes all retries due and closes all circuits, while no process is running. */
  endWaits(): Promise<void>;
  remove(): Promise<void>;
}

export interface Left {
  /** The SQL may call `id_of`, see ids-in-sql.ts. */
  rows(sql: string): Promise<readonly Row[]>;
  /** Every table and index with its definition. */
  schema(): Promise<readonly Row[]>;
  /** The errors of the database's own integrity check; empty for an intact one. */
  damage(): Promise<readonly string[]>;
  close(): void;
}

export type Row = Readonly<Record<string, unknown>>;

/** Statements that make all retries due and close all circuits. */
export const endsOfWaits = [
  "update deliveries set due_at = notification / 1024 where due_at is not null",
  "update destinations set failures = 0, open_until = null",
];

const sqlite: CrashDatabases = {
  name: "SQLite",
  preload: join(import.meta.dir, "sqlite-preload.ts"),
  commitsElsewhere: false,
  async make(folder) {
    const file = join(folder, "skyhook.db");
    return {
      url: `sqlite:${file}`,
      left: async () => copied(file),
      // Not needed: a start releases all leases, because no other process uses the database.
      endLeases: async () => {},
      async endWaits() {
        using client = new Database(file);
        for (const sql of endsOfWaits) client.run(sql);
      },
      remove: async () => {},
    };
  },
};

const postgres: CrashDatabases = {
  name: "PostgreSQL",
  preload: join(import.meta.dir, "postgres-preload.ts"),
  commitsElsewhere: true,
  async make() {
    const database = await postgresDatabase();
    return {
      url: database.url,
      left: () => leftOnServer(database),
      async endLeases() {
        await deathNoticed(database);
        await database.run("update deliveries set leased_until = 0 where leased_until is not null");
      },
      async endWaits() {
        for (const sql of endsOfWaits) await database.run(sql);
      },
      remove: async () => database[Symbol.asyncDispose](),
    };
  },
};

/** All kinds that are available on this machine. */
export const databases = (): readonly CrashDatabases[] =>
  skips(noManyConnections) ? [sqlite] : [sqlite, postgres];

/** Opens a copy, since closing the original would checkpoint its log. */
function copied(file: string): Left {
  const folder = temporaryFolder();
  const copy = join(folder, "copy.db");
  for (const suffix of ["", "-wal"]) {
    if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix);
  }
  const client = new Database(copy, { create: true });
  const rows = (sql: string) => client.query<Row, []>(onSqlite(sql)).all();
  return {
    rows: async (sql) => rows(sql),
    schema: async () => rows("select type, name, tbl_name, sql from sqlite_schema order by 1, 2"),
    async damage() {
      const found = client.query("pragma integrity_check").values().flat().map(String);
      return found.filter((line) => line !== "ok");
    },
    close() {
      client.close();
      removeFolder(folder);
    },
  };
}

/** All connections of the program to a test's database. */
const connectionsOfDead = `select pid from pg_stat_activity
  where application_name = current_setting('application_name') and pid <> pg_backend_pid()`;
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

/** Waits until the server has rolled back the open transactions of the dead process. */
async function deathNoticed(database: TestDatabase): Promise<void> {
  const connections = () => database.run(connectionsOfDead);
  await until(async () => (await connections()).length === 0, patienceMs);
}

async function leftOnServer(database: TestDatabase): Promise<Left> {
  await deathNoticed(database);
  // As JSON, because the driver returns a bigint as text.
  const rows = async (sql: string) => {
    const found = await database.run(
      `select to_jsonb(found) as row from (${onPostgres(sql)}) found`,
    );
    return found.map(({ row }) => rowOf(row));
  };
  const ownSchema = new URL(database.url).searchParams.get("search_path") ?? "";
  return {
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
    close() {},
  };
}

function rowOf(row: unknown): Row {
  if (typeof row !== "object" || row === null) throw new Error("Not a row");
  return { ...row };
}
