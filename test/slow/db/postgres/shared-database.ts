import { afterAll, beforeAll } from "bun:test";

import { SQL } from "bun";

import { openStorage } from "../../../../src/db/open.ts";
import type { Storage } from "../../../../src/db/storage.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { until } from "../../../support/app.ts";
import { postgresDatabase, type TestDatabase, testPoolSize } from "../../../support/databases.ts";
import { endsAfterEach } from "../../../support/ends.ts";

export const limits = {
  poolSize: testPoolSize,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  retryMs: 5_000,
};

/** One database for all tests of a file. */
export function sharedDatabase() {
  let database: TestDatabase;
  const ends = endsAfterEach();
  beforeAll(async () => {
    database = await postgresDatabase();
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());
  return {
    get url() {
      return database.url;
    },
    run: (text: string) => database.run(text),
    renew: () => database.renew(),
    empty: () => database.empty(),
    /** Opens the database until the end of the test. */
    async open(given = limits): Promise<Storage> {
      const storage = await openStorage(schema, database.url, given);
      ends.push(() => storage.close());
      return storage;
    },
    async openEmpty(): Promise<Storage> {
      await database.empty();
      return openStorage(schema, database.url, limits);
    },
    /** A connection in a transaction that has run `text`. */
    async begun(text = ""): Promise<SQL> {
      const sql = new SQL(database.url, { max: 1 });
      await sql.unsafe(`begin; ${text}`).simple();
      return sql;
    },
    /** Waits until at least `count` locks of a kind are waited for. */
    async locksAwaited(count: number, kind = "true"): Promise<void> {
      await until(async () => {
        const waiting = await database.run(`select from pg_locks where ${kind} and not granted`);
        return waiting.length >= count;
      });
    },
  };
}
