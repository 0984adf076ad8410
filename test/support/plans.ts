import { Database } from "bun:sqlite";

import type { SQL } from "bun";

import { compilerOf } from "../../src/db/postgres/compile.ts";
import { compile } from "../../src/db/sqlite/compile.ts";
import type { Statement } from "../../src/db/statement.ts";
import { schema } from "../../src/schema/schema.ts";

type Any = Statement<never, unknown>;

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
export async function planOnPostgres(
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
