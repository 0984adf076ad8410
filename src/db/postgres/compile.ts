import type { SQL as Client } from "bun";
import { drizzle } from "drizzle-orm/bun-sql";

import { binder } from "../binder.ts";
import { compiler } from "../compiler.ts";
import { Place } from "../place.ts";
import { type Field, type ReadRow, rowReader } from "../rows.ts";
import type { Sql, Statement, WriteResult } from "../statement.ts";

import { dialect } from "./dialect.ts";
import { tableOf } from "./tables.ts";

/** A complete query of Drizzle's PostgreSQL driver. */
interface PostgresBuilder {
  prepare(name: string): { readonly fields?: readonly Field[] };
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] };
}

/**
 * A compiled statement, to run on one connection or on any connection of a pool. Throws synchronously,
 * before anything is sent, when a value cannot be bound.
 */
type Run = (on: Pick<Client, "unsafe">, values: object) => Promise<WriteResult<unknown>>;
export type Compile = (statement: Statement<never, unknown>) => Run;

export function compilerOf(pool: Client): Compile {
  return compiler({
    // Guarantee: Sql lists only methods that Drizzle's PostgreSQL builders have, with the same meaning;
    // the storage suite runs every statement of the program through it.
    builders: drizzle(pool) as unknown as Sql,
    tableOf,
    dialect,
    // Guarantee: Drizzle's PostgreSQL builders made the query.
    prepare: (query) => prepared(query as PostgresBuilder),
  });
}

const noRows: readonly unknown[] = [];

/**
 * Compiles a query to text. Values are bound and rows decoded here, since Drizzle checks the type of every
 * parameter and value on every run. The driver prepares the text on its first use on each connection.
 */
function prepared(query: PostgresBuilder): Run {
  const { sql, params } = query.toSQL();
  const { fields } = query.prepare("");
  const bind = binder(params, bindable);
  if (fields === undefined) {
    return (on, values) => written(on.unsafe(sql, bind(values)).execute());
  }
  const read = rowReader(fields);
  return (on, values) => readBy(read, on.unsafe(sql, bind(values)).values().execute());
}

async function written(
  answer: Promise<{ readonly affectedRows: number }>,
): Promise<WriteResult<unknown>> {
  const { affectedRows } = await answer;
  return { rows: noRows, changes: affectedRows };
}

async function readBy(
  read: ReadRow,
  answer: Promise<readonly (readonly unknown[])[]>,
): Promise<WriteResult<unknown>> {
  const rows = await answer;
  return { rows: rows.map(read), changes: rows.length };
}

function bindable(value: unknown): unknown {
  if (value instanceof Place) return value.position;
  return Array.isArray(value) ? value.map(withoutNul) : withoutNul(value);
}

/** PostgreSQL cannot store NUL in text; U+FFFD (replacement character) takes its place. */
function withoutNul(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0")
    ? value.replaceAll("\0", "\u{FFFD}")
    : value;
}
