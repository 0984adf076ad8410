import { expect, test } from "bun:test";

import { ownTurns } from "../../src/base/own-turn.ts";

test("no two calls resolve in the same turn of the event loop", async () => {
  const ownTurn = ownTurns();
  const resolved: number[] = [];
  const all = Promise.all([1, 2, 3].map((call) => ownTurn().then(() => resolved.push(call))));
  const counts: number[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    counts.push(resolved.length);
    await new Promise((resolve) => void setImmediate(resolve));
  }
  await all;
  expect(resolved).toEqual([1, 2, 3]);
  expect(counts.filter((count, turn) => count - (counts[turn - 1] ?? 0) > 1)).toEqual([]);
});
