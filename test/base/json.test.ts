import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { ExactNumber, isNumber, parseJson } from "../../src/base/json.ts";
import {
  asPayload,
  idAt,
  isObject,
  textAt,
  unixMillisAt,
  unixSecondsAt,
} from "../../src/base/payload.ts";
import { exactText, valueAt } from "../../src/base/place.ts";
import { longNumber } from "../support/exact-numbers.ts";
import { forAll, runs } from "../support/runs.ts";

/** JSON without white space, of which every number is written as JavaScript prints it, or is long. */
const { document } = fc.letrec((tie) => ({
  document: fc.oneof(
    { maxDepth: 4 },
    longNumber,
    fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => JSON.stringify(number)),
    // Texts with long numbers, quotes and backslashes around them.
    fc
      .array(fc.oneof(longNumber, fc.constantFrom('"', "\\", ":", " ", "é")), { maxLength: 6 })
      .map((parts) => JSON.stringify(parts.join(""))),
    fc.constantFrom("null", "true", "{}", "[]"),
    fc.array(tie("document"), { maxLength: 4 }).map((all) => `[${all.join(",")}]`),
    fc
      .dictionary(fc.constantFrom("a", "__proto__", '"\\', "", "toString"), tie("document"))
      .map((all) => {
        const members = Object.entries(all).map(
          ([name, text]) => `${JSON.stringify(name)}:${String(text)}`,
        );
        return `{${members.join(",")}}`;
      }),
  ),
}));

describe("parseJson", () => {
  test("prints what it has parsed with the same digits", () => {
    forAll(runs(3_000), [document.map(String)], (text) => {
      expect(JSON.stringify(parseJson(text))).toBe(text);
    });
  });

  test("parses all other JSON as JSON.parse does, and rejects the same texts", () => {
    const broken = fc
      .tuple(
        document.map(String),
        fc.nat(),
        fc.constantFrom("", ",", ":", '"', "1234567890123456789"),
      )
      .map(([text, at, added]) => text.slice(0, at % (text.length + 1)) + added + text.slice(at));
    fc.assert(
      fc.property(
        fc.oneof(
          broken,
          fc.string(),
          fc.jsonValue().map((it) => JSON.stringify(it)),
        ),
        (text) => {
          let expected: unknown;
          try {
            expected = JSON.parse(text);
          } catch {
            expect(() => parseJson(text)).toThrow(SyntaxError);
            return;
          }
          const rounded = JSON.stringify(parseJson(text), (_, each) =>
            typeof each === "object" && each !== null && "rawJSON" in each
              ? Number(each["rawJSON"])
              : each,
          );
          expect(rounded).toBe(JSON.stringify(expected));
        },
      ),
      { numRuns: runs(3_000) },
    );
  });

  test.each([
    ["1", 1],
    ["1.0", 1],
    ["-0", -0],
    ["9007199254740991", 9007199254740991],
    ["0.30000000000000004", 0.30000000000000004],
    ['"820982911946154509"', "820982911946154509"],
  ])("%s is what JSON.parse returns", (text, value) => {
    expect(parseJson(text)).toBe(value);
  });

  test.each([
    "820982911946154509",
    "-9007199254740993",
    "12345678.123456789",
    "0.1234567890123456789",
    "1000000000000000000000000",
    "1.0000000000000000",
    "1234567890123456789e5",
    "1e400",
    "-1.5E+999",
    "1e-400",
    "4.9e-324",
  ])("%s keeps its digits", (text) => {
    const value = parseJson(` [${text} , {"a":"\\\\","b":${text}}]`);
    expect(JSON.stringify(value)).toBe(`[${text},{"a":"\\\\","b":${text}}]`);
    expect(exactText(valueAt(value, ["0"]))).toBe(text);
    expect(String(parseJson(text))).toBe(text);
  });

  test("reads a document 200,000 levels deep", () => {
    const deep = `${"[".repeat(200_000)}820982911946154509${"]".repeat(200_000)}`;
    let value = parseJson(deep);
    while (Array.isArray(value)) [value] = value;
    expect(String(value)).toBe("820982911946154509");
  });

  test("of equal keys the last one counts", () => {
    const value = parseJson('{"a":820982911946154509,"a":1,"b":1,"b":820982911946154508}');
    expect(JSON.stringify(value)).toBe('{"a":1,"b":820982911946154508}');
  });

  test("a member __proto__ changes no prototype", () => {
    const value = parseJson('{"__proto__":{"id":820982911946154509}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"id":820982911946154509}}');
  });
});

describe("a number with more digits than a double", () => {
  const of = (text: string) => ({ it: parseJson(text) });
  const id = of("820982911946154509");

  test("is a number, and neither an object nor a payload", () => {
    expect(isNumber(id.it)).toBe(true);
    expect(isObject(id.it)).toBe(false);
    expect(asPayload(id.it)).toBeNull();
    expect(Object.keys(Object(id.it))).toEqual([]);
    expect(valueAt(id, ["it", "text"])).toBeUndefined();
  });

  test("is read as text, as an id and as a time", () => {
    expect(textAt(id, "it")).toBe("820982911946154509");
    expect(idAt(id, "it")).toBe("820982911946154509");
    expect(idAt(of("12345678.123456789"), "it")).toBeNull();
    expect(idAt(of("9".repeat(201)), "it")).toBeNull();
    expect(textAt(of("9".repeat(9_000)), "it")).toHaveLength(500);
    expect(unixSecondsAt(of("1763716364.120000001"), "it")).toEqual(new Date(1_763_716_364_120));
    expect(unixMillisAt(of("1763716364120.0000001"), "it")).toEqual(new Date(1_763_716_364_120));
  });

  test("equals the same digits only", () => {
    const other = of("820982911946154508");
    expect(Bun.deepEquals(id, of("820982911946154509"), true)).toBe(true);
    expect(Bun.deepEquals(id, other, true)).toBe(false);
    expect(Number(id.it)).toBe(Number(other.it));
    expect(new ExactNumber("1").toString()).toBe("1");
  });
});
