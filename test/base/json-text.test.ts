import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { membersOf, prettyJson } from "../../src/base/json-text.ts";
import { nestedJson } from "../inbound/rejections/hostile-bodies.ts";
import { timesAsLong } from "../support/processor-time.ts";
import { forAll, runs } from "../support/runs.ts";

describe("prettyJson", () => {
  const pretty = (text: string) => prettyJson(text);

  test("formats JSON nested up to 16 levels and returns null for deeper JSON", () => {
    expect(pretty('{"a":[1,{}]}')).toBe('{\n  "a": [\n    1,\n    {}\n  ]\n}');
    expect(pretty(nestedJson(16, "1"))).not.toBeNull();
    expect(pretty(nestedJson(17, "1"))).toBeNull();
    expect(pretty(nestedJson(10_000, ""))).toBeNull();
  });

  test("ignores brackets in strings", () => {
    const text = JSON.stringify(["[".repeat(99), '"[[', "\\", "]".repeat(99)]);
    expect(JSON.parse(pretty(text) ?? "")).toEqual(JSON.parse(text));
  });

  test.each(["a", "\\n", '\\"'])("keeps a string of two million %p", (part) => {
    const text = JSON.stringify({ long: part }).replace(part, part.repeat(2_000_000));
    expect(pretty(text)).toBe(`{\n  ${text.slice(1, -1).replace(":", ": ")}\n}`);
  });

  test("rejects an unterminated string with many quotes in linear time", async () => {
    const reject = (quotes: number) => () => expect(pretty(`"${'\\"'.repeat(quotes)}`)).toBeNull();
    expect(await timesAsLong(reject(13_100), reject(131_000), 40)).toBeLessThanOrEqual(40);
  });

  test.each(["", "{", "text", "\u0000"])("returns null for %p, which is not JSON", (text) => {
    expect(pretty(text)).toBeNull();
  });
});

test.each([
  ['{"id":1152921506151679042,"rate":1.0,"b":{"2":1,"1":2}}', "members in order"],
  ['{"a":1,"a":1e400,"a":-0,"b":"\\u00e9\\/"}', "equal keys"],
])("prettyJson only adds white space: %s (%s)", (text) => {
  expect(prettyJson(text)?.replaceAll(/\s/g, "")).toBe(text);
});

describe("membersOf", () => {
  test("are the members that JSON.parse finds", () => {
    forAll(runs(1_000), [fc.jsonValue(), fc.integer({ min: 0, max: 2 })], (value, space) => {
      const members = membersOf(JSON.stringify(value, null, space));
      const expected = typeof value === "object" && value !== null ? Object.entries(value) : [];
      expect(members.map(({ name, text }) => [name, JSON.parse(text)])).toEqual(
        expected.map(([name, inner]) => [name, JSON.parse(JSON.stringify(inner))]),
      );
    });
  });

  test("are as sent, equal and escaped keys too", () => {
    expect(membersOf(' { "a\\u0022" : [1, {"b":"}"}] , "c":-0,"c":1.0} ')).toEqual([
      { name: 'a"', key: '"a\\u0022"', text: '[1, {"b":"}"}]' },
      { name: "c", key: '"c"', text: "-0" },
      { name: "c", key: '"c"', text: "1.0" },
    ]);
    expect(membersOf(' "[1]"')).toEqual([]);
  });

  test.each(["{", '{"a"', "[1", '["', '{"a":1]', '{"a":1,}', "[,1]", "[1] 2", "{1:2}", "]"])(
    "of %s, which is not JSON, are none",
    (text) => {
      const members = () => membersOf(text);
      if (text === "]") expect(members()).toEqual([]);
      else expect(members).toThrow(SyntaxError);
    },
  );

  test("of a string with ten million escapes, and of a million levels, are read", () => {
    const long = `["${'\\"'.repeat(10_000_000)}",${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}]`;
    expect(membersOf(long).map(({ text }) => text.length)).toEqual([20_000_002, 2_000_000]);
  });
});
