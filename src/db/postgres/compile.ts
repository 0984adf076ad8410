import type { SQL as Client } from "bun";
import { Column, is } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sql";

import { binder } from "../binder.ts";
import { compiler } from "../compiler.ts";
import type { Sql, Statement, WriteResult } from "../statement.ts";

import { dialect } from "./dialect.ts";
import { tableOf } from "./tables.ts";

/** What the builders of Drizzle's PostgreSQL driver are when a query is finished. */
interface PostgresBuilder {
  prepare(name: string): { readonly fields?: readonly Field[] };
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] };
}
interface Decoder {
  mapFromDriverValue(value: unknown): unknown;
}
/** A value of a row: where it goes, and what reads it (a column itself, or an expression's decoder). */
interface Field {
  readonly path: readonly string[];
  readonly field: Column | { readonly decoder: Decoder };
}

/**
 * A compiled statement: run on a connection, or on any of a pool's. A value that cannot be bound throws
 * at once, before anything is sent.
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
    // Guarantee: what those builders made is one of them.
    prepare: (query) => prepared(query as PostgresBuilder),
  });
}

const noRows: readonly unknown[] = [];

/**
 * Compiles a query to text, bound and read by ourselves: Drizzle asks of every parameter and every value
 * anew what it is. The driver prepares the text on each connection that it is first sent on.
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

/** PostgreSQL has no text with a NUL in it; U+FFFD stands for what cannot be represented. */
function withoutNul(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0")
    ? value.replaceAll("\0", "\u{FFFD}")
    : value;
}

type Row = Record<string, unknown>;

// Guarantee: what a table's columns go to is made here, and nothing else is put there.
function part(row: Row, table: string): Row {
  return (row[table] ??= {}) as Row;
}

/** Makes a row of a result's values: flat, or with one table's columns in an object of their own. */
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
