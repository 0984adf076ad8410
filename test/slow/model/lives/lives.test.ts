import { expect, setDefaultTimeout, test } from "bun:test";

import { noManyConnections } from "../../../support/databases.ts";
import { skips } from "../../../support/skips.ts";
import { checkLives } from "../random-lives.ts";

import { anyLives } from "./steps.ts";
import { openPostgres, openSqlite, type Store } from "./store.ts";
import { World } from "./world.ts";

setDefaultTimeout(180_000);

const steps = 60;

/** What random lives must have contained, or they prove too little. */
const wanted = [
  "offer part: 201",
  "confirm cancellation even",
  "confirm cancellation refund",
  "confirm cancellation expired",
  "confirm flight payment",
  "confirm flight refund",
  "confirm flight expired",
  "pay a change: confirmed",
  "flight moved",
  "flight cancelled",
  "race 0",
  "race 2",
  "race 3",
  "rush",
];

const runsKey = "runs";

async function live(
  instances: number,
  open: () => Promise<Store>,
  options: { readonly seed: number; readonly runs: number },
): Promise<ReadonlyMap<string, number>> {
  const tally = new Map<string, number>();
  const openWorld = () => {
    tally.set(runsKey, (tally.get(runsKey) ?? 0) + 1);
    return World.open(instances, open, tally);
  };
  await checkLives(anyLives(steps), openWorld, { ...options, limitMs: 120_000 });
  return tally;
}

test("changed bookings on SQLite obey their rules", async () => {
  const runs = 45;
  const tally = await live(1, openSqlite, { seed: 2, runs });
  // On a slow machine, the time limit comes first.
  if (tally.get(runsKey) !== runs && skips("the machine was too slow for all lives")) return;
  expect(wanted.filter((what) => !tally.has(what))).toEqual([]);
});

test.skipIf(skips(noManyConnections))(
  "changed bookings on two instances on PostgreSQL obey their rules",
  async () => {
    // Races differ each time, so the steps may too.
    const tally = await live(2, openPostgres, { seed: 5, runs: 8 });
    expect(tally.get("book: 201")).toBeGreaterThan(0);
  },
);
