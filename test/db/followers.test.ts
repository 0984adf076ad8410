import { expect, test } from "bun:test";

import { systemClock } from "../../src/base/clock.ts";
import { followers } from "../../src/db/followers.ts";
import { turns } from "../support/turns.ts";

const newest = 2_000;

/** A table whose rows are read at once, as from SQLite. */
const table = {
  newestSeq: async () => newest,
  newestStored: async () => newest,
  read: async ({ seq, until, limit }: { seq: number; until: number; limit: number }) =>
    Array.from({ length: Math.min(limit, until - seq) }, (_, index) => ({ seq: seq + index + 1 })),
};

test("other work runs between the pages that a follower reads, also if it skips them all [API4-21]", async () => {
  const following = followers(table, systemClock, () => {});
  using turn = turns();
  let read = 0;
  for await (const _ of following.follow(0, new AbortController().signal)) {
    read += 1;
    if (read === newest) break;
  }
  expect(turn.now()).toBeGreaterThanOrEqual(newest / 100 - 1);
});
