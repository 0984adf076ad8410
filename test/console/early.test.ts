import { afterEach, expect, spyOn, test } from "bun:test";

import { takeEarly } from "../../src/console/page/kit/early.ts";

afterEach(() => {
  globalThis.earlyResponses = undefined;
});

test("an early response is taken once, and not after somebody else has signed in", () => {
  using now = spyOn(performance, "now");
  now.mockReturnValue(0);
  const early = Promise.resolve(new Response());
  globalThis.earlyResponses = new Map([
    ["v1/providers", early],
    ["v1/issues", early],
  ]);
  expect(takeEarly("v1/providers", "GET")).toBe(early);
  expect(takeEarly("v1/providers", "GET")).toBeUndefined();
  expect(takeEarly("v1/auth/session", "POST")).toBeUndefined();
  expect(takeEarly("v1/issues", "GET")).toBeUndefined();
  // Nor when it is out of date.
  globalThis.earlyResponses = new Map([["v1/issues", early]]);
  now.mockReturnValue(20_001);
  expect(takeEarly("v1/issues", "GET")).toBeUndefined();
});
