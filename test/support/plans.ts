import { Database } from "bun:sqlite";

import { SQL } from "bun";

import { compilerOf } from "../../src/db/postgres/compile.ts";
import { compile } from "../../src/db/sqlite/compile.ts";
import type { Statement } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import { schema } from "../../src/schema/schema.ts";

import { postgresDatabase } from "./databases.ts";

type Any = Statement<never, unknown>;

/** A storage that finds nothing, and passes each statement that it is to read, with its values. */
export function readingFor(read: (statement: Any, values: object) => unknown): Storage {
  const storage: Pick<Storage, "all" | "dialect"> = {
    dialect: "postgres",
    async all<Values extends object, Row>(statement: Statement<Values, Row>, values: Values) {
      await read(statement, values);
      return [];
    },
  };
  // Guarantee: what only reads uses these two members.
  return storage as Storage;
}

/** A database on PostgreSQL with the tables of this version, and what such statements store. */
export async function filledPostgres(...statements: readonly string[]) {
  const database = await postgresDatabase();
  for (const { sql } of schema.migrations.postgres) await database.run(sql);
  for (const statement of statements) await database.run(statement);
  const client = new SQL(database.url, { max: 1 });
  return {
    run: (text: string) => database.run(text),
    /** By default with the rows that each step reads. */
    planOf: (statement: Any, values: object, options = "analyze, costs off, timing off") =>
      planOnPostgres(client, statement, values, options),
    async [Symbol.asyncDispose]() {
      await client.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** How SQLite runs a statement on empty tables, a line for each step. */
export function planOnSqlite(statement: Any): readonly string[] {
  using database = new Database(":memory:");
  for (const { sql } of schema.migrations.sqlite) database.run(sql);
  return database
    .query<{ detail: string }, []>(`explain query plan ${compile(statement).sql}`)
    .all()
    .map(({ detail }) => detail);
}

/** The text of a statement for PostgreSQL and its parameters. */
export async function textOf(client: SQL, statement: Any, values: object) {
  const asked: (readonly [string, unknown[]])[] = [];
  const unsafe = (text: string, given: unknown[] = []) => {
    asked.push([text, given]);
    return client.unsafe("select");
  };
  await compilerOf(client)(statement)({ unsafe }, values);
  const [first] = asked;
  if (first === undefined) throw new Error("No statement was sent");
  return first;
}

/** How PostgreSQL runs a statement. `options`: those of EXPLAIN. */
async function planOnPostgres(
  client: SQL,
  statement: Any,
  values: object,
  options: string,
): Promise<string> {
  const [text, given] = await textOf(client, statement, values);
  const rows: Record<string, string>[] = await client.unsafe(`explain (${options}) ${text}`, given);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

const rejectedRows = /Rows Removed by (?:Index Recheck|Filter|Join Filter): (\d+)/g;

/** The most rows that a step of a plan of PostgreSQL read and rejected, when EXPLAIN ran it (`analyze`). */
export function mostRejected(plan: string): number {
  return Math.max(0, ...Array.from(plan.matchAll(rejectedRows), ([, count]) => Number(count)));
}
