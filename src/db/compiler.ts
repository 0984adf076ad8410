import { sql, type Table } from "drizzle-orm";

import type { Dialect, Query, Sql, Statement } from "./statement.ts";
import type { Definition, Definitions, TablesOf } from "./table.ts";

/** What the compiler needs from a dialect. */
export interface Compiling<Run> {
  /** Drizzle's builders of this dialect. */
  readonly builders: Sql;
  readonly tableOf: (definition: Definition) => Table;
  readonly dialect: Dialect;
  readonly prepare: (query: Query<unknown>) => Run;
}

/** Compiles each statement once, on its first use. */
export function compiler<Run>({
  builders,
  tableOf,
  dialect,
  prepare,
}: Compiling<Run>): (statement: Statement<never, unknown>) => Run {
  const parameters = new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) });
  const compiled = new Map<Statement<never, unknown>, Run>();
  return (statement) => {
    let run = compiled.get(statement);
    if (run === undefined) {
      const tables = Object.entries(statement.definitions).map(([name, definition]) => [
        name,
        tableOf(definition),
      ]);
      run = prepare(
        statement.build(
          builders,
          // Guarantee: the entries map the name of each definition to its table.
          Object.fromEntries(tables) as TablesOf<Definitions>,
          // Guarantee: the proxy returns a placeholder for every name, so it fits any Values.
          parameters as never,
          dialect,
        ),
      );
      compiled.set(statement, run);
    }
    return run;
  };
}

// Guarantee: callers pass rows that this statement returned, so they have its row type.
export function rowsOf<Row>(_: Statement<never, Row>, rows: readonly unknown[]): Row[] {
  return rows as Row[];
}
