import { expect, test } from "bun:test";

import { nextBatch, type Ready } from "../../../src/outbound/deliveries/batch.ts";
import { deliveryRow, eventRow, notificationRow } from "../../support/rows.ts";

/** A delivery as a letter: `a` is its first attempt, `A` a later one, `1` its only one. */
function ready(letter: string): Ready {
  const row = notificationRow(1, { attemptCount: /[A-Z]/.test(letter) ? 1 : 0 });
  const delivery = { ...deliveryRow(row), seq: 1, afterDead: letter === "1", orderKey: letter };
  const claim = { delivery, claimedMs: 0, isProbe: false };
  return { claim, event: eventRow(1), notification: { ...row, title: letter } };
}

const shown = (all: readonly Ready[]) => all.map(({ notification: { title } }) => title).join("");

test.each([
  // A batch is full, or has waited.
  ["abcd", 3, 0, "abc", 0, "d"],
  ["ab", 3, 0, "ab", 100, ""],
  ["ab", 3, 100, "ab", 0, ""],
  ["ab", 1, 0, "a", 0, "b"],
  // What failed goes alone, in its turn, or while a batch waits.
  ["Aab", 2, 0, "A", 0, "ab"],
  ["aAbB", 2, 0, "ab", 0, "AB"],
  ["aAB", 2, 0, "A", 0, "aB"],
  ["aAB", 2, 100, "a", 0, "AB"],
  ["AB", 9, 0, "A", 0, "B"],
  // What has one attempt is not risked for another.
  ["1ab", 3, 0, "1", 0, "ab"],
  ["a1b", 2, 0, "ab", 0, "1"],
] as const)(
  "of %p in batches of %p after %p ms: %p in %p ms",
  (all, size, now, sent, dueMs, rest) => {
    const next = nextBatch(Array.from(all, ready), size, 100, now);
    expect(next && [shown(next.batch), next.dueMs, shown(next.rest)]).toEqual([sent, dueMs, rest]);
  },
);

test("of nothing: nothing", () => {
  expect(nextBatch([], 3, 100, 0)).toBeNull();
});
