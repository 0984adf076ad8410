import { encodeCursor } from "../../base/cursor.ts";
import { AppError } from "../../base/errors.ts";
import {
  defaultLimit,
  type ItemId,
  maxLimit,
  type Page,
  type PageRequest,
  type Position,
} from "../../base/page.ts";
import { invalidParameter, parameterError } from "../../base/parameters.ts";

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

/** Reads a page of a list whose filters are already applied. */
type List<Node, Id extends ItemId> = (request: PageRequest<Id>) => Promise<Page<Node>>;

/**
 * A page of `list` as a connection. `totalCount`, and whether items precede the page, are read only if
 * those fields are selected. Throws `invalid-parameter` for conflicting arguments and negative sizes,
 * `invalid-cursor` for a malformed cursor.
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
      // Guarantee: GraphQL awaits the promise. The getter runs only if the field is selected.
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

/** An item and its cursor, which is encoded only if selected. */
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
      "first and after page forward, last and before page backward. Use one pair.",
    );
  }
  const [name, size] = isBackward ? (["last", last] as const) : (["first", first] as const);
  const limit = Math.min(size ?? defaultLimit, maxLimit);
  if (limit < 0) throw invalidParameter(name, "Must be 0 or more");
  const cursor = isBackward ? position("before", before, decode) : position("after", after, decode);
  if (isBackward && cursor?.id === null) {
    throw parameterError(
      "invalid-cursor",
      "before",
      "A cursor without an id works only with after",
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

/** Whether the list has items on the side from which the page was reached. Reads one row. */
async function hasItemsBehind<Node extends Item<Id>, Id extends ItemId>(
  { direction, cursor }: CursorRequest<Id>,
  data: readonly Node[],
  list: List<Node, Id>,
): Promise<boolean> {
  // Without a cursor the page starts at the end of the list.
  if (cursor === null) return false;
  const isForward = direction === "forward";
  const edge = isForward ? data.at(0) : data.at(-1);
  const behind = isForward ? "backward" : "forward";
  if (edge !== undefined) {
    const probe = { limit: 0, withTotal: false, direction: behind, cursor: edge } as const;
    return (await list(probe)).pagination.hasMore;
  }
  // The page is empty: the items behind it start at its cursor, inclusive, which no request can
  // express. So compare the outermost item of the list with the cursor.
  const outermost = { limit: 1, withTotal: false, direction, cursor: null } as const;
  const [item] = (await list(outermost)).data;
  if (item === undefined) return false;
  const order = compare(item, cursor);
  return isForward ? order >= 0 : order <= 0;
}

/** Positive if `item` is newer than the position. */
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
  if (total === undefined) throw new Error("The page has no total");
  return total;
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}
