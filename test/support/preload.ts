import { setDefaultTimeout } from "bun:test";

import { plugin } from "bun";
import fc from "fast-check";

/** For each test: suites on PostgreSQL take long on a busy machine. */
const timeoutMs = 120_000;

// The runner reads no time-out from bunfig.toml, and goes back to 5 s at each file. So it is set while a
// file is loaded, before the tests in it are registered.
plugin({
  name: "default time-out",
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      setDefaultTimeout(timeoutMs);
      return { contents: await Bun.file(path).text(), loader: "ts" };
    });
  },
});

// A property that fails says which expectation did, not only for what values.
fc.configureGlobal({ includeErrorInReport: true });
