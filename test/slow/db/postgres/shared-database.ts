import { afterAll, beforeAll } from "bun:test";

import { openStorage } from "../../../../src/db/open.ts";
import type { Storage } from "../../../../src/db/storage.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { postgresDatabase, type TestDatabase, testPoolSize } from "../../../support/databases.ts";

export const limits = {
  poolSize: testPoolSize,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  retryMs: 5_000,
};

/** One database for all tests of a file. */
export function sharedDatabase() {
  let database: TestDatabase;
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
    async openEmpty(): Promise<Storage> {
      await database.empty();
      return openStorage(schema, database.url, limits);
    },
  };
}
