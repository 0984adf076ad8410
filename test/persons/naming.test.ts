import { describe, expect, test } from "bun:test";

import { namingOf } from "../../src/persons/naming.ts";

const naming = namingOf({
  email: "ada.b@example.com",
  ids: ["019377b0-7d40", "42"],
  names: ["Ada Lovelace", "Bo"],
});

describe("a text", () => {
  test.each([
    ["Mail from ada.b@example.com.", "email", "Mail from [erased]."],
    ["<ADA.B@EXAMPLE.COM>", "email", "<[erased]>"],
    [String.raw`{"from":"ada.b\u0040example.com"}`, "email", "[erased]"],
    ["from=ada.b%40example.com&to=x", "email", "[erased]"],
    ["text=I+am+ada.b@example.com", "email", "text=I+am+[erased]"],
    ["user 019377b0-7d40 signed in", "id", "user [erased] signed in"],
    ["by Ada  Lovelace", "name", "by [erased]"],
    ["Ada Lovelace <ada.b@example.com>", "email", "[erased] <[erased]>"],
    // Other persons.
    ["miranda.b@example.com", null, "miranda.b@example.com"],
    ["x.ada.b@example.com", null, "x.ada.b@example.com"],
    ["ada.b@example.com.au", null, "ada.b@example.com.au"],
    ["adaxb@example.com", null, "adaxb@example.com"],
    ["019377b0-7d401", null, "019377b0-7d401"],
    ["Ada Lovelaces", null, "Ada Lovelaces"],
    // Too short to tell persons apart.
    ["Bo", null, "Bo"],
    ["order 42", null, "order 42"],
    ["", null, ""],
  ] as const)("%j contains the person by %s", (text, by, redacted) => {
    expect(naming.find(text)).toBe(by);
    expect(naming.redact(text)).toBe(redacted);
  });

  test("is replaced in all places of a JSON value", () => {
    const at = new Date(0);
    const value = { list: ["ada.b@example.com", 1, null, { "ada.b@example.com": true }], at };
    expect(naming.redact(value)).toEqual({ list: ["[erased]", 1, null, { "[erased]": true }], at });
  });

  test("contains nobody of whom nothing is known", () => {
    expect(namingOf({ email: null, ids: [], names: [] }).find("Ada")).toBeNull();
  });
});
