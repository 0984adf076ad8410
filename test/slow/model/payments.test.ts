import { expect, setDefaultTimeout, test } from "bun:test";

import { noManyConnections, postgresDatabase } from "../../support/databases.ts";
import { skips } from "../../support/skips.ts";

import { checkPayments, World } from "./payments.ts";

setDefaultTimeout(300_000);

/** What random lives must have contained, or the model proves too little. */
const wanted = [
  "held",
  "hold refused",
  "expired",
  "reseated",
  "cancelled",
  "released",
  "payment: confirmed",
  "payment: mismatch",
  "payment: unseated",
  "payment: surplus",
  "refund: refunded",
  "refund: overrefunded",
  "refund: unmatched",
  "refund waits",
  "refund found later",
  "race: paid first",
];

test("holds, payments and refunds on SQLite agree with the model", async () => {
  const tally = new Map<string, number>();
  await checkPayments(() => World.open(1, null, tally), { seed: 20, runs: 60 });
  expect(wanted.filter((what) => !tally.has(what))).toEqual([]);
});

test.skipIf(skips(noManyConnections))(
  "holds, payments and refunds on two instances on PostgreSQL agree with the model",
  async () => {
    const tally = new Map<string, number>();
    const open = async () => World.open(2, await postgresDatabase(), tally);
    await checkPayments(open, { seed: 390_936_553, runs: 26 });
    expect(wanted.filter((what) => !tally.has(what))).toEqual([]);
  },
);
