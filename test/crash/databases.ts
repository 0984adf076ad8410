import { Database } from "bun:sqlite";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";

import { migrations } from "../../src/storage/sqlite/migrate.ts";
import { removeFolder, temporaryFolder } from "../support/program.ts";

/** A kind of database that the suite runs on. */
export interface CrashDatabases {
  readonly name: string;
  /** Loaded before the program, so that it dies at crash points. */
  readonly preload: string;
  /** A new one, empty or as an older release left it. Files of its own go to `folder`. */
  make(folder: string, older?: OlderRelease): Promise<CrashDatabase>;
  /** The names of the migrations, in order. */
  readonly migrations: readonly string[];
}

export interface OlderRelease {
  /** How many migrations it knew. */
  readonly migrations: number;
  /** What it wrote. */
  readonly sql: string;
}

export interface CrashDatabase {
  /** For DATABASE_URL. */
  readonly url: string;
  /** What a process left that is dead, without mending it: that is for the next start to do. */
  left(): Promise<Left>;
  remove(): Promise<void>;
}

export interface Left {
  rows(sql: string): Promise<readonly Row[]>;
  /** Every table and index, with what it is made of. */
  schema(): Promise<readonly Row[]>;
  /** What the database itself finds wrong; empty when nothing. */
  damage(): Promise<readonly string[]>;
  close(): void;
}

export type Row = Readonly<Record<string, unknown>>;

const sqlite: CrashDatabases = {
  name: "SQLite",
  preload: join(import.meta.dir, "sqlite-preload.ts"),
  migrations: migrations.map(({ name }) => name),
  async make(folder, older) {
    const file = join(folder, "skyhook.db");
    if (older !== undefined) makeOlder(file, older);
    return {
      url: `sqlite:${file}`,
      left: async () => copied(file),
      remove: async () => {},
    };
  },
};

function makeOlder(file: string, older: OlderRelease): void {
  using client = new Database(file);
  client.run("pragma journal_mode = wal");
  client.run("create table migrations (name text not null primary key) strict");
  for (const { name, sql } of migrations.slice(0, older.migrations)) {
    client.run(sql);
    client.run("insert into migrations (name) values (?)", [name]);
  }
  client.run(older.sql);
}

/** All kinds. */
export const databases: readonly CrashDatabases[] = [sqlite];

/** Opens a copy: whoever opens the database itself and closes it again writes the log back into it. */
function copied(file: string): Left {
  const folder = temporaryFolder();
  const copy = join(folder, "copy.db");
  for (const suffix of ["", "-wal"]) {
    if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix);
  }
  const client = new Database(copy, { create: true });
  const rows = (sql: string) => client.query<Row, []>(sql).all();
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
