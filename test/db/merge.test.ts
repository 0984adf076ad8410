import { expect, test } from "bun:test";

import fc from "fast-check";

import { mergeSources } from "../../src/db/merge.ts";
import type { Source, Window } from "../../src/db/paginate.ts";
import { turns } from "../support/turns.ts";

interface Item {
  readonly createdAt: Date;
  readonly id: string;
}

/** By `createdAt`, then by `id`. */
const inOrder = (order: Window["order"]) => (one: Item, other: Item) => {
  const byTime = one.createdAt.getTime() - other.createdAt.getTime();
  const byId = Number(one.id > other.id) - Number(one.id < other.id);
  return (order === "newest-first" ? -1 : 1) * (byTime || byId);
};

/** A list of these items, which counts how many it returns. */
function listOf(items: readonly Item[], reads: { items: number } = { items: 0 }): Source<Item> {
  return {
    async read({ order, from, offset, limit }: Window) {
      const isAfter = (item: Item) =>
        from === null || inOrder(order)({ createdAt: from.createdAt, id: from.id ?? "" }, item) < 0;
      const found = items
        .toSorted(inOrder(order))
        .filter(isAfter)
        .slice(offset, offset + limit);
      reads.items += found.length;
      return found;
    },
    count: async () => items.length,
  };
}

/** Items of few times, so that many have the same. */
const items = fc
  .uniqueArray(fc.nat(2_000), { maxLength: 900 })
  .map((numbers) => numbers.map((n) => ({ createdAt: new Date(n % 40), id: String(n) })));

test("merged lists read like one list, at any offset and from any item", async () => {
  await fc.assert(
    fc.asyncProperty(
      items,
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom("newest-first" as const, "oldest-first" as const),
      fc.nat(900),
      fc.integer({ min: 1, max: 101 }),
      fc.option(fc.nat(899)),
      async (all, count, order, offset, limit, start) => {
        const from = start === null ? null : (all[start] ?? null);
        const parts = Array.from({ length: count }, (_, part) =>
          listOf(all.filter(({ id }) => Number(id) % count === part)),
        );
        const window = { order, from, offset, limit };
        expect(await mergeSources(parts).read(window)).toEqual(await listOf(all).read(window));
        expect(await mergeSources(parts).count()).toBe(all.length);
      },
    ),
    { numRuns: 50 },
  );
});

test("a page far down merged lists reads little more than the items before it", async () => {
  const reads = { items: 0 };
  const parts = Array.from({ length: 50 }, (_, part) => {
    const numbers = Array.from({ length: 1_000 }, (_, n) => n * 50 + part);
    return listOf(
      numbers.map((n) => ({ createdAt: new Date(n), id: String(n) })),
      reads,
    );
  });
  const page = await mergeSources(parts).read({
    order: "newest-first",
    from: null,
    offset: 9_900,
    limit: 100,
  });
  expect(page.map(({ id }) => Number(id))).toEqual(
    Array.from({ length: 100 }, (_, n) => 50_000 - 1 - 9_900 - n),
  );
  expect(reads.items).toBeLessThanOrEqual(10_000 + 50 * 200);
});

test("other work runs between the reads of merged lists", async () => {
  const one = Array.from({ length: 2_000 }, (_, n) => ({ createdAt: new Date(n), id: `a${n}` }));
  const lists = ["b", "c", "d"].map((letter) =>
    listOf(one.map((item) => ({ ...item, id: `${letter}${item.id}` }))),
  );
  using turn = turns();
  const window = { order: "newest-first", from: null, offset: 4_000, limit: 100 } as const;
  const page = await mergeSources(lists).read(window);
  expect(page).toHaveLength(100);
  // 200 items for each read.
  expect(turn.now()).toBeGreaterThanOrEqual(4_000 / 200);
});
