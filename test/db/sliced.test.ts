import { expect, test } from "bun:test";

import { rowsPerSlice } from "../../src/db/count.ts";
import { paginate, type Source } from "../../src/db/paginate.ts";
import type { TimeRange } from "../../src/db/part.ts";
import { inOrder } from "../../src/db/search.ts";
import { readInSlices } from "../../src/db/sliced.ts";

interface Item {
  readonly createdAt: Date;
  readonly id: string;
}

const count = 4 * rowsPerSlice;
/** Several share a millisecond, and more than a slice share the one in the middle. */
const items: readonly Item[] = Array.from({ length: count }, (_, n) => {
  const isMiddle = n >= rowsPerSlice && n < 2.5 * rowsPerSlice;
  const at = isMiddle ? Math.floor(rowsPerSlice / 7) : Math.floor(n / 7);
  return { createdAt: new Date(at), id: `evt_${String(n).padStart(6, "0")}` };
}).toSorted(inOrder("oldest-first"));

/** The items that `matches` holds for. `onRead` receives how many items a read looked at. */
function listOf(matches: (item: Item) => boolean, onRead: (seen: number) => void) {
  return ({ from: start, to: end }: TimeRange): Source<Item> => {
    const within = items.filter(
      ({ createdAt }) => !(start && createdAt < start) && !(end && createdAt >= end),
    );
    return {
      count: async () => within.filter(matches).length,
      async read({ order, from, offset, limit }) {
        const isBefore = inOrder(order);
        const left = within.toSorted(isBefore).filter((item) => {
          if (from === null) return true;
          if (from.id !== null)
            return isBefore(item, { createdAt: from.createdAt, id: from.id }) > 0;
          const isNewer = item.createdAt >= from.createdAt;
          return order === "newest-first" ? !isNewer : isNewer;
        });
        const found = left.filter(matches).slice(offset, offset + limit);
        const last = found.length < limit ? undefined : found.at(-1);
        onRead(last === undefined ? left.length : left.indexOf(last) + 1);
        return found;
      },
    };
  };
}

const numberOf = ({ id }: Item) => Number(id.slice(4));
const matching: readonly [name: string, matches: (item: Item) => boolean][] = [
  ["none", () => false],
  ["the oldest", (item) => numberOf(item) === 0],
  ["few", (item) => numberOf(item) % 1_111 === 0],
  ["all", () => true],
];
const ranges: readonly TimeRange[] = [{}, { from: new Date(100), to: new Date(1_000) }];

test.each(matching)(
  "a page of %s is the same in slices, and no read is long",
  async (_, matches) => {
    for (const range of ranges) {
      const reads: number[] = [];
      const all = listOf(
        () => true,
        () => {},
      );
      const sliced = readInSlices(
        { dialect: "sqlite" },
        range,
        all,
        listOf(matches, (seen) => reads.push(seen)),
      );
      const whole = listOf(matches, () => {})(range);
      for (const direction of ["forward", "backward"] as const) {
        const pages = [
          { cursor: null, direction },
          { cursor: items[5_000] ?? null, direction },
          ...(direction === "forward"
            ? [
                { cursor: { createdAt: new Date(900), id: null }, direction },
                { page: 3 },
                { page: 900 },
              ]
            : []),
        ];
        for (const page of pages) {
          const request = { limit: 3, withTotal: true, ...page };
          expect(await paginate(sliced, request)).toEqual(await paginate(whole, request));
        }
      }
      // A slice ends at the end of a millisecond, the longest of which has 1.5 slices.
      expect(Math.max(...reads)).toBeLessThanOrEqual(2.5 * rowsPerSlice + 7);
    }
  },
);

test("PostgreSQL reads a page at once", () => {
  const whole = listOf(
    () => true,
    () => {},
  )({});
  expect(
    readInSlices(
      { dialect: "postgres" },
      {},
      () => whole,
      () => whole,
    ),
  ).toBe(whole);
});
