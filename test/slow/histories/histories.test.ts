import { describe, expect, test } from "bun:test";

import { altered } from "../../support/altered-copy.ts";

import { planted } from "./planted.ts";
import { playRound } from "./round.ts";
import { setups } from "./setups.ts";

describe("what concurrent clients see while instances are killed", () => {
  test.each(setups().map((setup) => [setup.name, setup] as const))(
    "is linearizable on %s",
    async (_, setup) => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const { wrong, faults, operations } = await playRound(setup, seed);
      expect({ seed, wrong }).toEqual({ seed, wrong: [] });
      expect(operations).toBeGreaterThan(1_000);
      expect(faults.get("killed")).toBeGreaterThan(0);
    },
  );
});

test.each(planted.map(({ error, changes }) => [error, changes] as const))(
  "the planted error changes texts that are there: %s",
  (_, changes) => {
    expect(altered(changes).size).toBeGreaterThan(0);
  },
);
