import { expect, test } from "bun:test";

import { linkHeader, pageLinkHeader } from "../../../src/web/rest/pagination.ts";

const url = new URL("http://localhost/v1/events?limit=100&page=100");
const full = { data: [], pagination: { hasMore: true, nextCursor: "n", prevCursor: "p" } };

test("Link continues by cursor after the highest page number", () => {
  const at = (page: number) => linkHeader(url, { page, limit: 100, withTotal: false }, full);
  expect(at(99)).toBe(
    '</v1/events?limit=100&page=100>; rel="next", </v1/events?limit=100&page=98>; rel="prev"',
  );
  expect(at(100)).toBe(
    '</v1/events?limit=100&cursor=n>; rel="next", </v1/events?limit=100&page=99>; rel="prev"',
  );
});

test("Link has no next page after the highest page number in a list without cursors", () => {
  expect(pageLinkHeader(url, { page: 100, limit: 100 }, true)).toBe(
    '</v1/events?limit=100&page=99>; rel="prev"',
  );
});

test("Link replaces the cursor and the direction that a page was reached by, and keeps the rest", () => {
  const reached = new URL("http://localhost/v1/events?limit=2&direction=backward&cursor=c&q=a%26b");
  const cursor = { createdAt: new Date(0), id: "evt_1" } as const;
  const request = { limit: 2, withTotal: false, direction: "backward", cursor } as const;
  expect(linkHeader(reached, request, full)).toBe(
    '</v1/events?limit=2&q=a%26b&cursor=n>; rel="next", </v1/events?limit=2&q=a%26b&cursor=p&direction=backward>; rel="prev"',
  );
});

test.each([
  ["forward", false, null],
  ["forward", true, "next"],
  ["backward", false, null],
  ["backward", true, "prev"],
] as const)("Link of a list's end, %s, with more: %p, has only: %p", (direction, hasMore, rel) => {
  const request = { limit: 2, withTotal: false, direction, cursor: null } as const;
  const page = { data: [], pagination: { ...full.pagination, hasMore } };
  const link = linkHeader(new URL("http://localhost/v1/events"), request, page);
  expect(link?.match(/(?<=rel=")\w+/g) ?? null).toEqual(rel === null ? null : [rel]);
});
