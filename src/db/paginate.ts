import { encodeCursor } from "../base/cursor.ts";
import { AppError } from "../base/errors.ts";
import type { ItemId, Page, PageRequest, Position } from "../base/page.ts";

/** The part of a list to read: `limit` rows after a position (exclusive) or after `offset` rows. */
export interface Window<Id extends ItemId = string> {
  readonly order: "newest-first" | "oldest-first";
  readonly from: Position<Id> | null;
  readonly offset: number;
  readonly limit: number;
}

/** A list that can be read by window, ordered by (createdAt, id). */
export interface Source<Item, Id extends ItemId = string> {
  read(window: Window<Id>): Promise<Item[]>;
  count(): Promise<number>;
}

/**
 * Reads one page, for both REST and GraphQL. Newest first: `createdAt`, then `id`, both descending.
 * Reads one row more than requested, to know whether more follow. Backward reads ascend and are
 * reversed afterwards, so that every page has the same order.
 */
export async function paginate<
  Item extends { readonly createdAt: Date; readonly id: Id },
  Id extends ItemId = string,
>(source: Source<Item, Id>, request: PageRequest<Id>): Promise<Page<Item>> {
  const window = windowOf(request);
  const rows = await source.read({ ...window, limit: request.limit + 1 });
  const hasMore = rows.length > request.limit;
  const data = rows.slice(0, request.limit);
  if (window.order === "oldest-first") data.reverse();
  const [first, last] = [data.at(0), data.at(-1)];
  return {
    data,
    pagination: {
      hasMore,
      nextCursor: last === undefined ? null : encodeCursor(last),
      prevCursor: first === undefined ? null : encodeCursor(first),
      ...(request.withTotal && { total: await source.count() }),
    },
  };
}

function windowOf<Id extends ItemId>(request: PageRequest<Id>): Omit<Window<Id>, "limit"> {
  if ("page" in request) {
    const offset = (request.page - 1) * request.limit;
    return { order: "newest-first", from: null, offset };
  }
  const { cursor, direction } = request;
  if (direction === "forward") return { order: "newest-first", from: cursor, offset: 0 };
  if (cursor?.id === null) {
    // Reading backward from a time alone would miss or repeat items of that millisecond.
    const detail = "A cursor without an id can only be used forward";
    const error = { parameter: "cursor", code: "invalid-cursor", detail };
    throw new AppError("invalid-cursor", detail, { errors: [error] });
  }
  return { order: "oldest-first", from: cursor, offset: 0 };
}
