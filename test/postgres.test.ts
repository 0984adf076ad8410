import { afterAll, beforeAll } from "bun:test";

import { openStorage } from "../src/storage/storage.ts";
import { storageSuite } from "./suites/storage.ts";
import { postgresDatabase, type TestDatabase, testPoolSize } from "./support/databases.ts";

const limits = {
  poolSize: testPoolSize,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  retryMs: 2_000,
};

let shared: TestDatabase;
beforeAll(async () => {
  shared = await postgresDatabase();
}, 60_000);
afterAll(() => shared[Symbol.asyncDispose]());

storageSuite(
  "postgres",
  async () => {
    await shared.empty();
    return openStorage(shared.url, limits);
  },
  5,
);
