import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { altered } from "../../support/altered-copy.ts";

import { checkLeaks } from "./oracle.ts";
import { changesOf, planted } from "./planted.ts";
import { replayCommand } from "./target.ts";
import { targets } from "./targets.ts";
import { startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 30_000);
afterAll(() => world.stop());

const seed = Math.floor(Math.random() * 2 ** 31);

describe("fuzzing, for a moment", () => {
  test.each(targets.map((target) => [target.name, target.about, target] as const))(
    "%s: %s",
    async (_, __, target) => {
      const bounds = { seed, runs: target.shortRuns, timeLimitMs: 15_000 };
      const { failure } = await target.run(world, bounds);
      if (failure !== null) {
        const { message, counterexample, path } = failure;
        throw new Error(
          `${message}\n${counterexample}\nAgain: ${replayCommand(target.name, seed, path)}`,
        );
      }
      await world.checkHealth();
      checkLeaks(world.newLog(), world, "The log");
    },
  );
});

test.each(planted.map((entry) => [entry.error, entry] as const))(
  "the planted error changes texts that are there: %s",
  (_, entry) => {
    expect(altered(changesOf(entry)).size).toBeGreaterThan(0);
  },
);
