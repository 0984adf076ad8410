import type { Database, SQLQueryBindings, Statement as Prepared } from "bun:sqlite";

import { drizzle } from "drizzle-orm/bun-sqlite";

import { binder } from "../binder.ts";
import { compiler } from "../compiler.ts";
import type { Sql, Statement, WriteResult } from "../statement.ts";

import { dialect } from "./dialect.ts";
import { tableOf } from "./tables.ts";

/** What the builders of Drizzle's synchronous SQLite driver are when a query is finished. */
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
    // Guarantee: what those builders made is one of them.
    prepare: (query) => prepared(client, query as SqliteBuilder),
  });
}

const noRows: readonly unknown[] = [];

/**
 * Prepares a query. One that returns rows is Drizzle's to run, which maps them. One that only writes is
 * bound by ourselves.
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

// Guarantee: what a column's encoder makes is what the driver binds; it throws on anything else.
function bindable(value: unknown): SQLQueryBindings {
  return value as SQLQueryBindings;
}

/**
 * Returns what closes the connection together with its statements; call it before statements are made. A
 * statement that is left keeps the file open until it is collected as garbage, and the database in use.
 */
export function closer(client: Database): () => void {
  const statements: Pick<Prepared, "finalize">[] = [];
  const prepare = client.prepare.bind(client);
  // Guarantee: it takes and returns what the method does.
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
