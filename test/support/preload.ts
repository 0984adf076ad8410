import { afterAll, setDefaultTimeout } from "bun:test";

import { plugin } from "bun";
import fc from "fast-check";

import { dropIdleDatabases } from "./databases.ts";
import { runs } from "./runs.ts";

/** Timeout of each test: suites on PostgreSQL take long on a busy machine. */
const timeoutMs = 120_000;

// The test runner has no timeout option in bunfig.toml, and resets it to 5 s for each file. So set it when
// a file is loaded, before its tests are registered.
plugin({
  name: "default time-out",
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      setDefaultTimeout(timeoutMs);
      return { contents: await Bun.file(path).text(), loader: "ts" };
    });
  },
});

// Makes a failing property report the failed expectation, not only the values.
fc.configureGlobal({ includeErrorInReport: true, numRuns: runs(100) });

afterAll(dropIdleDatabases);
