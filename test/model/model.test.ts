import { describe, expect, test } from "bun:test";

import { checkModel } from "./check.ts";
import { databases } from "./databases.ts";

const runs = 8;

describe.each(databases)("the service on $name", (database) => {
  test("does what its model does, whatever is asked of it in whatever order", async () => {
    const tally = new Map<string, number>();
    // Another one every time, told when it fails; `bun run model --seed` repeats it.
    const seed = Math.floor(Math.random() * 2 ** 31);
    await checkModel(database, { seed, runs, commands: 40, tally });
    // The sequences did sell and refuse: a model that never gets anywhere proves nothing.
    expect(tally.get("book: done")).toBeGreaterThan(0);
    expect(tally.size).toBeGreaterThan(20);
  });
});
