import { rowsPerSlice } from "./count.ts";
import { inTurn } from "./in-turn.ts";
import type { Source, Window } from "./paginate.ts";
import type { TimeRange } from "./part.ts";
import type { Storage } from "./storage.ts";

/** A list within a time range. */
type Within<Item> = (range: TimeRange) => Source<Item>;

/**
 * A list with a condition that no index answers, so that a page may read far more rows than it has. SQLite reads on
 * this thread: the page is read in slices, one per turn of the event loop. `all` is a list that contains these items
 * and that an index answers; a slice is as long as some rows of it, up to the end of a millisecond.
 */
export function readInSlices<Item extends { readonly createdAt: Date }>(
  { dialect }: Pick<Storage, "dialect">,
  range: TimeRange,
  all: Within<{ readonly createdAt: Date }>,
  matching: Within<Item>,
): Source<Item> {
  const whole = matching(range);
  if (dialect !== "sqlite") return whole;
  return {
    count: () => whole.count(),
    async read({ order, from, offset, limit }) {
      const needed = offset + limit;
      const items: Item[] = [];
      let seen = 0;
      for (let position = from; ;) {
        const window = { order, from: position };
        const [last] = await inTurn(() =>
          all(range).read({ ...window, offset: rowsPerSlice - 1, limit: 1 }),
        );
        const slice = last === undefined ? range : upTo(last.createdAt, order, range);
        const found = await inTurn(() =>
          matching(slice).read({ ...window, offset: 0, limit: needed - seen }),
        );
        // A page far down the list keeps none of those before it.
        items.push(...found.slice(Math.max(0, offset - seen)));
        seen += found.length;
        if (last === undefined || seen === needed) return items;
        position = { createdAt: endOf(last.createdAt, order), id: null };
      }
    },
  };
}

/** Up to and including a millisecond. */
function upTo(at: Date, order: Window["order"], { from, to }: TimeRange): TimeRange {
  return order === "newest-first" ? { from: at, to } : { from, to: endOf(at, order) };
}

/** Where the items after a millisecond start: `to` is exclusive, `from` is inclusive. */
function endOf(at: Date, order: Window["order"]): Date {
  return order === "newest-first" ? at : new Date(at.getTime() + 1);
}
