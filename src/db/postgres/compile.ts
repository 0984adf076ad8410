import type { SQL as Client } from "bun";
import { Column, is } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sql";

import { binder } from "../binder.ts";
import { compiler } from "../compiler.ts";
import type { Sql, Statement, WriteResult } from "../statement.ts";

import { dialect } from "./dialect.ts";
import { tableOf } from "./tables.ts";

/** A complete query of Drizzle's PostgreSQL driver. */
interface PostgresBuilder {
  prepare(name: string): { readonly fields?: readonly Field[] };
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] };
}
interface Decoder {
  mapFromDriverValue(value: unknown): unknown;
}
/** A value of a row: its path in the row object, and its decoder (a column, or an expression's decoder). */
interface Field {
  readonly path: readonly string[];
  readonly field: Column | { readonly decoder: Decoder };
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
  const read = reader(fields);
  return (on, values) => readBy(read, on.unsafe(sql, bind(values)).values().execute());
}

async function written(
  answer: Promise<{ readonly affectedRows: number }>,
): Promise<WriteResult<unknown>> {
  const { affectedRows } = await answer;
  return { rows: noRows, changes: affectedRows };
}

async function readBy(
  read: (values: readonly unknown[]) => Row,
  answer: Promise<readonly (readonly unknown[])[]>,
): Promise<WriteResult<unknown>> {
  const rows = await answer;
  return { rows: rows.map(read), changes: rows.length };
}

function bindable(value: unknown): unknown {
  return Array.isArray(value) ? value.map(withoutNul) : withoutNul(value);
}

/** PostgreSQL cannot store NUL in text; U+FFFD (replacement character) takes its place. */
function withoutNul(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0")
    ? value.replaceAll("\0", "\u{FFFD}")
    : value;
}

type Row = Record<string, unknown>;

// Guarantee: only this function sets `row[table]`, always to an object.
function part(row: Row, table: string): Row {
  return (row[table] ??= {}) as Row;
}

/** Builds a row from the values of a result: flat, or with a nested object for each table. */
function reader(fields: readonly Field[]): (values: readonly unknown[]) => Row {
  const columns = fields.map(({ path: [first = "", second], field }) => {
    const decoder: Decoder = is(field, Column) ? field : field.decoder;
    return { first, second, decoder };
  });
  return (values) => {
    const row: Row = {};
    for (const [index, { first, second, decoder }] of columns.entries()) {
      const value = values[index];
      const decoded = value === null ? null : decoder.mapFromDriverValue(value);
      if (second === undefined) row[first] = decoded;
      else part(row, first)[second] = decoded;
    }
    return row;
  };
}
