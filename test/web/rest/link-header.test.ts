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
