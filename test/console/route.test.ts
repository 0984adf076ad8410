import { expect, test } from "bun:test";

import { readRoute, views, writeRoute } from "../../src/console/page/kit/route.ts";

test.each(["evt_1", "a/b", "?q=1", "#", "%", "ü 😀", "code=x"])(
  "a link to %p leads to it, with its filters",
  (id) => {
    const query = new URLSearchParams({ q: "a&b", from: "" });
    const route = readRoute(writeRoute("destinations", id, query));
    expect(route).toMatchObject({ view: "destinations", id });
    expect(route?.query.toString()).toBe(query.toString());
  },
);

test.each([
  ["", "issues", null],
  ["#", "issues", null],
  ["#code=abc", "issues", null],
  ["#/code=abc", "issues", null],
  ["#/events/%E0%A4", "events", "%E0%A4"],
  ["#/audit", "audit", null],
])("the address %p is the view %s", (hash, view, id) => {
  expect(readRoute(hash)).toMatchObject({ view, id });
});

test("an unknown view is none, and every view has an address", () => {
  expect([readRoute("#/nothing"), readRoute("#/__proto__")]).toEqual([null, null]);
  expect(views.map((view) => readRoute(writeRoute(view))?.view)).toEqual(views);
});
