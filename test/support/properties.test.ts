import { expect, test } from "bun:test";

import fc from "fast-check";

test("a failing property reports the failed expectation", () => {
  const property = fc.property(fc.nat(), (number) => expect(number).toBeNegative());
  expect(() => fc.assert(property)).toThrow("toBeNegative");
});
