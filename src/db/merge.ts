import { ownTurns } from "../base/own-turn.ts";

import type { Source, Window } from "./paginate.ts";

interface Dated {
  readonly createdAt: Date;
  readonly id: string;
}

/** Items read at once from a list: a page far down the merged list does not read that far in each. */
const batchSize = 200;
/** Other requests run between two reads, and after so many merged items: a page far down many lists takes long. */
const ownTurn = ownTurns();

/** Several lists without a common item as one list. */
export function mergeSources<Item extends Dated>(sources: readonly Source<Item>[]): Source<Item> {
  return {
    async read({ order, from, offset, limit }) {
      const needed = offset + limit;
      const isBefore = inOrder(order);
      const size = Math.min(needed, batchSize);
      const heads = sources.map((source) => headOf(source, { order, from, limit: size }));
      await Promise.all(heads.map((head) => head.fill()));
      const items: Item[] = [];
      while (items.length < needed) {
        const first = heads
          .filter((head) => head.item() !== undefined)
          .reduce<Head<Item> | null>((best, head) => earlier(best, head, isBefore), null);
        const item = first?.item();
        if (first === null || item === undefined) break;
        items.push(item);
        if (items.length % batchSize === 0) await ownTurn();
        await first.advance();
      }
      return items.slice(offset);
    },
    async count() {
      const counts = await Promise.all(sources.map((source) => source.count()));
      return counts.reduce((sum, each) => sum + each, 0);
    },
  };
}

/** What is left of a list. */
interface Head<Item> {
  /** The first item that is left. */
  item(): Item | undefined;
  /** Reads the next items. */
  fill(): Promise<void>;
  /** Goes to the next item. */
  advance(): Promise<void>;
}

function headOf<Item extends Dated>(
  source: Source<Item>,
  { order, from, limit }: Omit<Window, "offset">,
): Head<Item> {
  let items: readonly Item[] = [];
  let index = 0;
  const head: Head<Item> = {
    item: () => items[index],
    async fill() {
      await ownTurn();
      items = await source.read({ order, from: items.at(-1) ?? from, offset: 0, limit });
      index = 0;
    },
    async advance() {
      index += 1;
      // Fewer than requested are the last ones.
      if (index === items.length && items.length === limit) await head.fill();
    },
  };
  return head;
}

function earlier<Item extends Dated>(
  best: Head<Item> | null,
  head: Head<Item>,
  order: (one: Item, other: Item) => number,
): Head<Item> {
  const [one, other] = [best?.item(), head.item()];
  if (best === null || one === undefined) return head;
  return other !== undefined && order(other, one) < 0 ? head : best;
}

/** By `createdAt`, then by `id`, as the databases compare them. */
export function inOrder(order: Window["order"]) {
  const sign = order === "newest-first" ? -1 : 1;
  return (
    one: { readonly createdAt: Date; readonly id: string },
    other: { readonly createdAt: Date; readonly id: string },
  ): number => {
    const byTime = one.createdAt.getTime() - other.createdAt.getTime();
    if (byTime !== 0) return sign * byTime;
    return one.id === other.id ? 0 : sign * (one.id < other.id ? -1 : 1);
  };
}
