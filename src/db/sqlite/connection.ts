import type { Database, Statement as Prepared } from "bun:sqlite";

import { syncCommits } from "./durability.ts";

/** Sets what every connection to a database of Skyhook needs. `busyTimeoutMs`: how long it waits for a lock. */
export function configure(client: Database, busyTimeoutMs: number): void {
  client.run(`pragma busy_timeout = ${busyTimeoutMs}`);
  syncCommits(client);
  client.run("pragma journal_mode = wal");
  client.run("pragma mmap_size = 1073741824");
  // The statement journal, which undoes a failing statement, needs no disk.
  client.run("pragma temp_store = memory");
}

/** Returns a function that prepares each SQL text on its first use. */
export function preparer(client: Database): (sql: string) => Prepared {
  const prepared = new Map<string, Prepared>();
  return (sql) => {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = client.prepare(sql);
      prepared.set(sql, statement);
    }
    return statement;
  };
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
