import { describe, expect, test } from "bun:test";

import { runs } from "../../support/runs.ts";

import { checkModel } from "./check.ts";
import { databases } from "./databases.ts";

/** Less than the test's timeout, which would hide the failure that was found. */
const limitMs = 15_000;

describe.each(databases)("the service on $name", (database) => {
  test("behaves like its model for any sequence of commands", async () => {
    const tally = new Map<string, number>();
    // A new seed each time, printed on failure; `bun run model --seed` repeats it.
    const seed = Math.floor(Math.random() * 2 ** 31);
    await checkModel(database, { seed, runs: runs(8), commands: 40, tally, limitMs });
    expect(tally.get("command")).toBeGreaterThan(0);
  });
});
