import { AppError } from "../../base/errors.ts";
import { invalidParameter, parameterError } from "../rest/query.ts";
import { encodeCursor } from "../../base/cursor.ts";
import {
  defaultLimit,
  type ItemId,
  maxLimit,
  type Page,
  type PageRequest,
  type Position,
} from "../../base/page.ts";

/** The arguments of a connection (Relay's cursor connections, section 4). */
interface ConnectionArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

interface Item<Id extends ItemId> {
  readonly createdAt: Date;
  readonly id: Id;
}

/** A list's verb, with its filters filled in. */
type List<Node, Id extends ItemId> = (request: PageRequest<Id>) => Promise<Page<Node>>;

/**
 * A page of `list` as a connection. Counting the list, and looking whether there is something on the
 * side that was not read, happen only when those fields are selected. Throws `invalid-parameter` for
 * arguments that contradict each other or are below 0, `invalid-cursor` for a malformed cursor.
 */
export async function connectionOf<Node extends Item<Id>, Id extends ItemId>(
  args: ConnectionArguments,
  decode: (cursor: string) => Position<Id>,
  list: List<Node, Id>,
) {
  const request = requestOf(args, decode);
  const { data, pagination } = await list(request);
  const isForward = request.direction === "forward";
  let other: Promise<boolean> | undefined;
  const hasOther = () => (other ??= hasItemsBehind(request, data, list));
  return {
    edges: data.map((node) => new Edge(node)),
    pageInfo: {
      // Guarantee: GraphQL waits for what a field resolves to; the getter runs only when selected.
      get hasNextPage() {
        return isForward ? pagination.hasMore : (hasOther() as unknown as boolean);
      },
      // Guarantee: as above.
      get hasPreviousPage() {
        return isForward ? (hasOther() as unknown as boolean) : pagination.hasMore;
      },
      startCursor: pagination.prevCursor,
      endCursor: pagination.nextCursor,
    },
    total: () => totalOf(list),
  };
}

/** An item and its cursor, which is made only when selected. */
class Edge<Id extends ItemId, Node extends Item<Id>> {
  constructor(readonly node: Node) {}

  get cursor(): string {
    return encodeCursor(this.node);
  }
}

type CursorRequest<Id extends ItemId> = Extract<PageRequest<Id>, { direction: unknown }>;

function requestOf<Id extends ItemId>(
  { first, after, last, before }: ConnectionArguments,
  decode: (cursor: string) => Position<Id>,
): CursorRequest<Id> {
  const isBackward = isGiven(last) || isGiven(before);
  if (isBackward && (isGiven(first) || isGiven(after))) {
    throw invalidParameter(
      isGiven(first) ? "first" : "after",
      "first and after go forward, last and before backward: give one pair of them",
    );
  }
  const [name, size] = isBackward ? (["last", last] as const) : (["first", first] as const);
  const limit = Math.min(size ?? defaultLimit, maxLimit);
  if (limit < 0) throw invalidParameter(name, "A whole number from 0 up");
  const cursor = isBackward ? position("before", before, decode) : position("after", after, decode);
  if (isBackward && cursor?.id === null) {
    throw parameterError(
      "invalid-cursor",
      "before",
      "A cursor without an id can only travel forward",
    );
  }
  return { limit, withTotal: false, direction: isBackward ? "backward" : "forward", cursor };
}

function position<Id extends ItemId>(
  name: "after" | "before",
  cursor: string | null | undefined,
  decode: (cursor: string) => Position<Id>,
): Position<Id> | null {
  if (!isGiven(cursor)) return null;
  try {
    return decode(cursor);
  } catch (error) {
    if (error instanceof AppError) throw parameterError("invalid-cursor", name, error.detail);
    throw error;
  }
}

/** Whether the list has items on the side that a page came from. Reads one row by the list's index. */
async function hasItemsBehind<Node extends Item<Id>, Id extends ItemId>(
  { direction, cursor }: CursorRequest<Id>,
  data: readonly Node[],
  list: List<Node, Id>,
): Promise<boolean> {
  // A page from the end of a list has nothing behind it.
  if (cursor === null) return false;
  const isForward = direction === "forward";
  const edge = isForward ? data.at(0) : data.at(-1);
  const behind = isForward ? "backward" : "forward";
  if (edge !== undefined) {
    const probe = { limit: 0, withTotal: false, direction: behind, cursor: edge } as const;
    return (await list(probe)).pagination.hasMore;
  }
  // An empty page: what is behind it begins at its cursor, inclusive, which no page can ask for. But
  // then the list's outermost item on that side tells.
  const outermost = { limit: 1, withTotal: false, direction, cursor: null } as const;
  const [item] = (await list(outermost)).data;
  if (item === undefined) return false;
  const order = compare(item, cursor);
  return isForward ? order >= 0 : order <= 0;
}

/** Positive when `item` is newer than the place, by the list's order. */
function compare<Id extends ItemId>(item: Item<Id>, { createdAt, id }: Position<Id>): number {
  const byTime = item.createdAt.getTime() - createdAt.getTime();
  if (byTime !== 0 || id === null || item.id === id) return byTime;
  return item.id > id ? 1 : -1;
}

async function totalOf<Node extends Item<Id>, Id extends ItemId>(
  list: List<Node, Id>,
): Promise<number> {
  const request = { limit: 0, withTotal: true, direction: "forward", cursor: null } as const;
  const { total } = (await list(request)).pagination;
  if (total === undefined) throw new Error("The list was not counted");
  return total;
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}
