import type { Database, SQLQueryBindings, Statement as Prepared } from "bun:sqlite";

import { drizzle } from "drizzle-orm/bun-sqlite";

import { binder } from "../binder.ts";
import { compiler } from "../compiler.ts";
import type { Sql, Statement, WriteResult } from "../statement.ts";

import { dialect } from "./dialect.ts";
import { tableOf } from "./tables.ts";

/** A complete query of Drizzle's synchronous SQLite driver. */
interface SqliteBuilder {
  prepare(): {
    execute(values: object): { sync(): unknown[] | { changes: number } };
  };
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] };
}

/** A compiled statement. */
type Run = (values: object) => WriteResult<unknown>;
export type Compile = (statement: Statement<never, unknown>) => Run;

export function compilerOf(client: Database): Compile {
  return compiler({
    // Guarantee: Sql lists only methods that Drizzle's SQLite builders have, with the same meaning;
    // the storage suite runs every statement of the program through it.
    builders: drizzle(client) as unknown as Sql,
    tableOf,
    dialect,
    // Guarantee: Drizzle's SQLite builders made the query.
    prepare: (query) => prepared(client, query as SqliteBuilder),
  });
}

const noRows: readonly unknown[] = [];

/**
 * Prepares a query. Drizzle runs queries that return rows, because it maps them. Queries that only write
 * are bound here, without Drizzle's check of every parameter.
 */
function prepared(client: Database, query: SqliteBuilder): Run {
  const { sql, params } = query.toSQL();
  const statement = client.prepare(sql);
  if (statement.reader) {
    statement.finalize();
    const mapped = query.prepare();
    return (values) => {
      const rows = mapped.execute(values).sync();
      return Array.isArray(rows)
        ? { rows, changes: rows.length }
        : { rows: noRows, changes: rows.changes };
    };
  }
  const bind = binder(params, bindable);
  return (values) => {
    const { changes } = statement.run(...bind(values));
    return { rows: noRows, changes: changes };
  };
}

// Guarantee: column encoders return types that the driver binds; the driver throws on any other.
function bindable(value: unknown): SQLQueryBindings {
  return value as SQLQueryBindings;
}

/**
 * Returns a function that closes the connection and all its statements. Call it before any statement is
 * prepared. A statement that is not finalized keeps the file open until it is garbage-collected.
 */
export function closer(client: Database): () => void {
  const statements: Pick<Prepared, "finalize">[] = [];
  const prepare = client.prepare.bind(client);
  // Guarantee: same parameters and return value as the method it replaces.
  client.prepare = ((...query: Parameters<typeof prepare>) => {
    const statement = prepare(...query);
    statements.push(statement);
    return statement;
  }) as typeof prepare;
  return () => {
    for (const statement of statements.splice(0)) statement.finalize();
    client.close();
  };
}
