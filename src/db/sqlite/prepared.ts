import type { Database, SQLQueryBindings } from "bun:sqlite";

import { binder } from "../binder.ts";
import type { StepResult } from "../storage.ts";

/** What the builders of Drizzle's synchronous SQLite driver are when a query is finished. */
export interface SqliteBuilder {
  prepare(): {
    execute(values: object): { sync(): unknown[] | { changes: number } };
  };
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] };
}

/** A compiled statement. */
export type Run = (values: object) => StepResult<unknown>;

const noRows: readonly unknown[] = [];

/**
 * Prepares a query. One that returns rows is Drizzle's to run, which maps them. One that only writes is
 * bound by ourselves.
 */
export function prepared(client: Database, query: SqliteBuilder): Run {
  const { sql, params } = query.toSQL();
  const statement = client.prepare(sql);
  if (statement.reader) {
    statement.finalize();
    const mapped = query.prepare();
    return (values) => {
      const rows = mapped.execute(values).sync();
      return Array.isArray(rows)
        ? { rows, touched: rows.length }
        : { rows: noRows, touched: rows.changes };
    };
  }
  const bind = binder(params, bindable);
  return (values) => {
    const { changes } = statement.run(...bind(values));
    return { rows: noRows, touched: changes };
  };
}

// Guarantee: what a column's encoder makes is what the driver binds; it throws on anything else.
function bindable(value: unknown): SQLQueryBindings {
  return value as SQLQueryBindings;
}
