import { expect, test } from "bun:test";

import { judge, type Sample } from "../../bench/soak-verdict.ts";

/** A run whose own memory is `bytesOf` the webhooks. */
const samplesOf = (bytesOf: (webhooks: number) => number): readonly Sample[] =>
  Array.from({ length: 50 }, (_, index) => ({
    seconds: index * 5,
    webhooks: index * 20_000,
    bookings: 0,
    failed: 0,
    p50Ms: 20,
    p99Ms: 50,
    memoryBytes: bytesOf(index * 20_000),
    databaseBytes: 6e8,
    freeBytes: 0,
    logBytes: 8e6,
    events: 200_000,
  }));

test.each([
  ["flat memory", (count: number) => 105e6 + (count % 3) * 5e6, []],
  [
    "280 bytes kept of each webhook",
    (count: number) => 108e6 + count * 280,
    [/last quarter ÷ third$/, /÷ around 50,000$/],
  ],
  [
    "memory that grows at first only",
    (count: number) => Math.min(100e6 + count * 280, 140e6),
    [/÷ around 50,000$/],
  ],
])("judges %s", (_, bytesOf, failed) => {
  const wrong = judge(samplesOf(bytesOf), 1).filter(({ passed }) => !passed);
  expect(wrong.map(({ what }) => what)).toEqual(failed.map((what) => expect.stringMatching(what)));
});
