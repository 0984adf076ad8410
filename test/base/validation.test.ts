import { describe, expect, test } from "bun:test";

import { Type } from "@sinclair/typebox";

import { bodyReader } from "../../src/base/validation.ts";

describe("a body", () => {
  const read = bodyReader(
    Type.Object({
      name: Type.String(),
      note: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
      parts: Type.Optional(Type.Array(Type.Object({ size: Type.Optional(Type.Integer()) }))),
    }),
    "validation-failed",
  );

  test.each([
    ["an optional member is absent", { name: "a", note: null }, { name: "a" }],
    [
      "one whose values include null is null",
      { name: "a", limit: null },
      { name: "a", limit: null },
    ],
    [
      "one of an item is absent",
      { name: "a", parts: [{ size: null }, {}] },
      { name: "a", parts: [{}, {}] },
    ],
    ["an unknown one is ignored", { name: "a", other: null }, { name: "a" }],
  ])("in which null is sent: %s", (_, body, expected) => {
    expect(read(body)).toEqual(expected);
  });

  test.each([[{ name: null }], [null], [[null]], [{ name: "a", parts: [null] }]])(
    "%j is invalid, because null is no value of it",
    (body) => {
      expect(() => read(body)).toThrow();
    },
  );
});
