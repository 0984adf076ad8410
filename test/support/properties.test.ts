import { expect, test } from "bun:test";

import fc from "fast-check";

test("a property that fails says which expectation did", () => {
  const property = fc.property(fc.nat(), (number) => expect(number).toBeNegative());
  expect(() => fc.assert(property)).toThrow("toBeNegative");
});
