import { Database } from "bun:sqlite";

import { SQL } from "bun";

import { openStorage } from "../../../src/db/open.ts";
import { schema } from "../../../src/schema/schema.ts";

import { inserts, onPostgres, onSqlite } from "./rows.ts";

/** Creates the database with Skyhook's schema and fills it. Returns when it can be read as fast as later. */
export async function fill(url: string, rows: number): Promise<void> {
  await (await openStorage(schema, url)).close();
  await (url.startsWith("sqlite:")
    ? fillFile(url.slice("sqlite:".length), rows)
    : fillServer(url, rows));
}

async function fillFile(file: string, rows: number): Promise<void> {
  using database = new Database(file, { strict: true });
  // The file is temporary, so it needs no protection against crashes.
  for (const pragma of ["journal_mode = off", "synchronous = off", "cache_size = -500000"]) {
    database.run(`pragma ${pragma}`);
  }
  // Creating an index for existing rows is several times faster than updating it for each row.
  const kept = database
    .query<{ name: string; sql: string }, []>(
      "select name, sql from sqlite_schema where type = 'index' and sql is not null order by name",
    )
    .all();
  for (const { name } of kept) database.run(`drop index ${name}`);
  for (const statement of inserts(onSqlite, rows)) database.run(statement);
  for (const { sql } of kept) database.run(sql);
  database.run("pragma journal_mode = wal");
}

async function fillServer(url: string, rows: number): Promise<void> {
  await using database = new SQL(url, { max: 1 });
  for (const statement of inserts(onPostgres, rows)) await database.unsafe(statement);
  await database.unsafe("vacuum analyze");
}
