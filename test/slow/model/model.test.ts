import { describe, expect, setDefaultTimeout, test } from "bun:test";

import { runs } from "../../support/runs.ts";
import { skips } from "../../support/skips.ts";
import { databases } from "../harness/databases.ts";

import { checkBookings, checkModel } from "./check.ts";

setDefaultTimeout(300_000);

/** How long lives of bookings are checked, and in how many batches. */
const patienceMs = 120_000;
const [leastBatches, mostBatches] = [3, 8];

/** What they must have contained on one instance, or they prove too little. On two, races differ each time. */
const wanted = [
  "hold: 201",
  "hold: 409",
  "book: 201",
  "cancel: confirmed",
  "cancel: held",
  "payment: confirmed",
  "payment: mismatch",
  "payment: unseated",
  "payment: surplus",
  "pay a change",
  "reseated",
  "refund: refunded",
  "refund: overrefunded",
  "refund: unmatched",
  "refund: waits",
  "refund found later",
  "race: paid first",
  "offer part: 201",
  "confirm cancellation even",
  "confirm cancellation refund",
  "confirm cancellation expired",
  "confirm flight payment",
  "confirm flight refund",
  "confirm flight expired",
  "flight moved",
  "flight cancelled",
  "race 0",
  "race 2",
  "race 3",
  "rush",
];

describe.each(databases())("the service on $name", (kind) => {
  test("behaves like its model for any sequence of commands", async () => {
    const tally = new Map<string, number>();
    // A new seed each time, printed on failure; `bun run model --seed` repeats it.
    const seed = Math.floor(Math.random() * 2 ** 31);
    await checkModel(kind, { seed, runs: runs(8), commands: 40, tally, limitMs: 60_000 });
    expect(tally.get("command")).toBeGreaterThan(0);
  });

  test("has bookings, payments and changes as their rules say, after any sequence of steps", async () => {
    const tally = new Map<string, number>();
    const missing = () => (kind.isServer ? [] : wanted.filter((what) => !tally.has(what)));
    const endsMs = performance.now() + patienceMs;
    for (let seed = 1; seed <= mostBatches; seed += 1) {
      if (seed > leastBatches && missing().length === 0) break;
      const limitMs = endsMs - performance.now();
      await checkBookings(kind, { seed, runs: 15, commands: 60, tally, limitMs });
    }
    expect(tally.get("hold: 201")).toBeGreaterThan(0);
    // On a slow machine, the time limit comes first.
    const isSlow = performance.now() > endsMs;
    if (isSlow && skips("the machine was too slow for all lives")) return;
    expect(missing()).toEqual([]);
  });
});
