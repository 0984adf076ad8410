import { expect, test } from "bun:test";

import fc from "fast-check";

import { parseJson } from "../../../src/base/json.ts";
import { exactText, pointerKeys, valueAt } from "../../../src/base/place.ts";
import { valuesAt } from "../../../src/inbound/signatures/pointed-values.ts";
import { forAll, runs } from "../../support/runs.ts";

const key = fc.constantFrom("a", "b", "0", "1", "é", "__proto__", 'q"\\', "length", "~/");
const pointer = fc
  .array(key, { maxLength: 3 })
  .map((keys) =>
    keys.map((each) => `/${each.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
  );
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.string({ unit: "binary" }), fc.double(), fc.boolean(), fc.constant(null)).map(json),
    fc.constantFrom('"\\u0061"', "1e5", "-0", "12345678901234567890"),
    fc.array(tie("value")).map((all) => `[ ${all.join(" ,\n")}]`),
    // Keys may repeat, and be escaped.
    fc
      .array(fc.tuple(fc.oneof(key.map(json), key.map(escaped)), tie("value")))
      .map((all) => `{${all.map(([name, text]) => `${name}\t:${String(text)}`).join(", ")} }`),
  ),
}));

function json(each: unknown): string {
  return JSON.stringify(each);
}

function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")}"`;
}

test("every pointer finds the text that it finds in the parsed document", () => {
  forAll(
    runs(3_000),
    [value.map(String), fc.array(pointer, { minLength: 1 })],
    (text, pointers) => {
      const found = valuesAt(Buffer.from(` ${text}\n`), pointers);
      const document = parseJson(text);
      for (const each of pointers) {
        const keys = pointerKeys(each);
        expect(exactText(valueAt(found, keys))).toBe(exactText(valueAt(document, keys)));
        expect(valueAt(found, keys) === undefined).toBe(valueAt(document, keys) === undefined);
      }
    },
  );
});

test("a byte order mark is skipped", () => {
  const found = valuesAt(Buffer.from('\ufeff {"a":1}'), ["/a"]);
  expect(valueAt(found, ["a"])).toBe(1);
});

test.each([
  "",
  " ",
  '{"a":1} {}',
  '{"a" 1}',
  '{"a":"\u0001"}',
  ...'{ {"a" {"a": {"a":1 {"a":1, {"a":1] {a:1} {"a":1}x [1 } " "\\ {"a":tru}'.split(" "),
])("%j has no values", (text) => {
  expect(valuesAt(Buffer.from(text), ["/a"])).toBeUndefined();
});
