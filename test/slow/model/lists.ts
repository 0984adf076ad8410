import { at, listAt } from "../../support/graphql.ts";
import type { Interface } from "../harness/requests.ts";

import type { Role } from "./app-world.ts";
import { type Model, sorted, sortedEvents } from "./model.ts";
import { cursorOf, type Direction, type Position, sliceOf } from "./rules.ts";
import { graphql, rest, same, type Server } from "./server.ts";

/** A paginated list. */
export interface List {
  readonly name: string;
  readonly role: Role;
  /** Null if the API does not have this list. */
  readonly path: string | null;
  readonly field: { readonly name: string; readonly id: string } | null;
  /** Newest first, as `userId` sees it. */
  readonly items: (model: Model, userId: string) => readonly Position[];
}

export const lists: readonly List[] = [
  {
    name: "users",
    role: "user",
    path: "/v1/users",
    field: { name: "users", id: "userId" },
    items: ({ users }) => sorted(users),
  },
  {
    name: "own bookings",
    role: "user",
    path: "/v1/api/bookings",
    field: { name: "bookings", id: "bookingId" },
    items: ({ bookings }, me) => sorted(bookings.filter(({ userId }) => userId === me)),
  },
  {
    name: "all bookings",
    role: "admin",
    path: "/v1/api/bookings",
    field: { name: "bookings", id: "bookingId" },
    items: ({ bookings }) => sorted(bookings),
  },
  {
    name: "flights",
    role: "user",
    path: null,
    field: { name: "flights", id: "flightId" },
    items: ({ flights }) => sorted(flights),
  },
  { name: "events", role: "operator", path: "/v1/events", field: null, items: sortedEvents },
  {
    name: "notifications",
    role: "operator",
    path: "/v1/notifications",
    field: null,
    items: ({ listed }) => listed.notifications,
  },
  {
    name: "rejections",
    role: "operator",
    path: "/v1/rejections",
    field: null,
    items: ({ listed }) => listed.rejections,
  },
];

interface PageRequest {
  readonly size: number;
  readonly direction: Direction;
  readonly from: Position | null;
}

/** Reads one page by REST or GraphQL, and compares it with the model's list. */
export async function comparePage(
  server: Server,
  token: string,
  { name, path, field }: List,
  items: readonly Position[],
  door: Interface,
  { size, direction, from }: PageRequest,
): Promise<void> {
  const expected = sliceOf(items, size, direction, from);
  const ids = expected.items.map(({ id }) => id);
  const ends = [expected.items.at(0), expected.items.at(-1)].map((item) =>
    item === undefined ? null : cursorOf(item),
  );
  const cursor = from === null ? null : cursorOf(from);
  const what = `page of ${name} by ${door}`;
  if ((door === "REST" || field === null) && path !== null) {
    const query = new URLSearchParams({ limit: String(size), direction, include: "total" });
    if (cursor !== null) query.set("cursor", cursor);
    const { body, headers } = await rest(server, token, "GET", `${path}?${query.toString()}`);
    if (Array.isArray(body)) {
      const rel = direction === "forward" ? "next" : "prev";
      const hasMore = headers.get("link")?.includes(`rel="${rel}"`) === true;
      const found = { ids: listAt(body).map((item) => at(item, "id")), hasMore };
      return same(what, found, { ids, hasMore: expected.hasMore });
    }
    const found = {
      ids: listAt(body, "data").map((item) => at(item, "id")),
      ...Object(at(body, "pagination")),
    };
    const [prevCursor, nextCursor] = ends;
    return same(what, found, {
      ids,
      hasMore: expected.hasMore,
      nextCursor,
      prevCursor,
      total: items.length,
    });
  }
  if (field === null) throw new Error(`No door shows ${name}`);
  const args =
    direction === "forward" ? "first: $size, after: $cursor" : "last: $size, before: $cursor";
  const query = `query ($size: Int, $cursor: String) { result: ${field.name}(${args}) {
    nodes { id: ${field.id} } edges { cursor } totalCount
    pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`;
  const { body, code } = await graphql(server, token, query, { size, cursor });
  const [startCursor, endCursor] = ends;
  same(
    what,
    { code, ids: listAt(body, "nodes").map((item) => at(item, "id")) },
    { code: null, ids },
  );
  same(
    what,
    at(body, "edges"),
    expected.items.map((item) => ({ cursor: cursorOf(item) })),
  );
  same(what, at(body, "totalCount"), items.length);
  // An empty page has no cursors.
  if (ids.length === 0) return;
  same(
    what,
    { ...Object(at(body, "pageInfo")) },
    {
      startCursor,
      endCursor,
      hasNextPage: expected.after > 0,
      hasPreviousPage: expected.before > 0,
    },
  );
}

/** Reads a list to its end, like an application. Returns its items. */
export async function walk(
  page: (cursor: string | null) => Promise<{ items: readonly unknown[]; next: string | null }>,
): Promise<unknown[]> {
  const items: unknown[] = [];
  let cursor: string | null = null;
  do {
    const found: Awaited<ReturnType<typeof page>> = await page(cursor);
    items.push(...found.items);
    cursor = found.next;
  } while (cursor !== null);
  return items;
}

/** All items of a REST list. */
export function walkRest(server: Server, token: string, path: string): Promise<unknown[]> {
  return walk(async (cursor) => {
    const query = cursor === null ? "" : `&cursor=${cursor}`;
    const { body } = await rest(server, token, "GET", `${path}?limit=100${query}`);
    const hasMore = at(body, "pagination", "hasMore") === true;
    const next = hasMore ? String(at(body, "pagination", "nextCursor")) : null;
    return { items: listAt(body, "data"), next };
  });
}

/** All items of a connection. */
export function walkGraphql(
  server: Server,
  token: string | null,
  field: string,
  fields: string,
): Promise<unknown[]> {
  return walk(async (cursor) => {
    const query = `query ($after: String) { result: ${field}(first: 100, after: $after) {
      nodes { ${fields} } pageInfo { hasNextPage endCursor } } }`;
    const { body, code } = await graphql(server, token, query, { after: cursor });
    same(`${field} by graphql`, code, null);
    const more = at(body, "pageInfo", "hasNextPage") === true;
    return {
      items: listAt(body, "nodes"),
      next: more ? String(at(body, "pageInfo", "endCursor")) : null,
    };
  });
}
