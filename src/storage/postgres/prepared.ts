import type { SQL as Client } from "bun";
import { Column, is, Param, Placeholder } from "drizzle-orm";

import type { StepResult } from "../storage.ts";

/** What the builders of Drizzle's PostgreSQL driver are when a query is finished. */
export interface PostgresBuilder {
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
export type Run = (on: Pick<Client, "unsafe">, values: object) => Promise<StepResult<unknown>>;

const noRows: readonly unknown[] = [];

/**
 * Compiles a query to text, bound and read by ourselves: Drizzle asks of every parameter and every value
 * anew what it is. The driver prepares the text on each connection that it is first sent on.
 */
export function prepared(query: PostgresBuilder): Run {
  const { sql, params } = query.toSQL();
  const { fields } = query.prepare("");
  const binders = params.map(binder);
  const bind = (values: object) => {
    // Guarantee: any object can be read by name; what is not there is caught by the binder.
    const named = values as Readonly<Record<string, unknown>>;
    return binders.map((bindOne) => bindOne(named));
  };
  if (fields === undefined) {
    return (on, values) => written(on.unsafe(sql, bind(values)).execute());
  }
  const read = reader(fields);
  return (on, values) => readBy(read, on.unsafe(sql, bind(values)).values().execute());
}

async function written(
  answer: Promise<{ readonly affectedRows: number }>,
): Promise<StepResult<unknown>> {
  const { affectedRows } = await answer;
  return { rows: noRows, touched: affectedRows };
}

async function readBy(
  read: (values: readonly unknown[]) => Row,
  answer: Promise<readonly (readonly unknown[])[]>,
): Promise<StepResult<unknown>> {
  const rows = await answer;
  return { rows: rows.map(read), touched: rows.length };
}

type Bind = (values: Readonly<Record<string, unknown>>) => unknown;

/** How a parameter gets its value: from the values by name, encoded as its column is, or as it stands. */
function binder(param: unknown): Bind {
  if (is(param, Placeholder)) return named(String(param.name), (value) => value);
  if (is(param, Param) && is(param.value, Placeholder)) {
    const { encoder, value } = param;
    return named(String(value.name), (given) => encoder.mapToDriverValue(given));
  }
  return () => param;
}

function named(name: string, encode: (value: unknown) => unknown): Bind {
  return (values) => {
    const value = values[name];
    if (value === undefined) throw new Error(`No value for placeholder "${name}"`);
    const bound = encode(value);
    // PostgreSQL has no text with a NUL in it; U+FFFD stands for what cannot be represented.
    return typeof bound === "string" && bound.includes("\0")
      ? bound.replaceAll("\0", "\u{FFFD}")
      : bound;
  };
}

type Row = Record<string, unknown>;

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
      else ((row[first] ??= {}) as Row)[second] = decoded;
    }
    return row;
  };
}
