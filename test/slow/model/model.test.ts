import { describe, expect, test } from "bun:test";

import { checkModel } from "./check.ts";
import { databases } from "./databases.ts";

const runs = 8;
/** Below the tests' own time-out, which would tell nothing of what was found. */
const limitMs = 15_000;

describe.each(databases)("the service on $name", (database) => {
  test("does what its model does, whatever is asked of it in whatever order", async () => {
    const tally = new Map<string, number>();
    // Another one every time, told when it fails; `bun run model --seed` repeats it.
    const seed = Math.floor(Math.random() * 2 ** 31);
    await checkModel(database, { seed, runs, commands: 40, tally, limitMs });
    expect(tally.get("command")).toBeGreaterThan(0);
  });
});
