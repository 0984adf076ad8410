import fc from "fast-check";

import { damaged, hostileText } from "./text.ts";

/** A value that JSON can write. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => JSON.stringify(number)),
  fc.constantFrom("-0", "1e400", "-1E+5", "0.1e-7", "1.0", "10000000000000000000001", "1e0"),
);
const stringText = fc.oneof(
  hostileText.map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '"\\ud800"',
    '"\\uDBFF\\u0041"',
    '"\\u0000"',
    '"\\/"',
    '"\\u0041"',
    '"\\ud83d\\udeeb"',
  ),
);
const keyText = fc.oneof(
  fc.constantFrom('"__proto__"', '"constructor"', '"toJSON"', '"then"', '"0"', '"a"', '"id"', '""'),
  stringText,
);
const space = fc.constantFrom("", "", "", " ", "\n\t", "\r\n  ");

/** Well-formed JSON as text, since values cannot hold duplicate keys, `-0` or ways to write a letter. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("null", "true", "false"),
    numberText,
    stringText,
    fc
      .tuple(space, fc.array(tie("value"), { maxLength: 4 }))
      .map(([gap, items]) => `[${gap}${items.join(`,${gap}`)}${gap}]`),
    fc
      .tuple(space, fc.array(fc.tuple(keyText, tie("value")), { maxLength: 4 }))
      .map(
        ([gap, entries]) =>
          `{${gap}${entries.map(([key, value]) => `${key}${gap}:${gap}${value}`).join(`${gap},`)}${gap}}`,
      ),
  ),
})).value;

const deep: readonly ((depth: number) => string)[] = [
  (depth) => "[".repeat(depth) + "]".repeat(depth),
  (depth) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`,
  (depth) => `${'[{"__proto__":'.repeat(depth)}0${"}]".repeat(depth)}`,
];
const large: readonly ((size: number) => string)[] = [
  (size) => JSON.stringify({ a: "x".repeat(size) }),
  (size) => `[${"0,".repeat(size / 2)}0]`,
  (size) => `{${Array.from({ length: size / 10 }, (_, n) => `"k${n}":0`).join(",")}}`,
  (size) => "9".repeat(size),
];

/** Well-formed, but deeper or larger than anyone honest sends. */
export const excessiveJson: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.constantFrom(...deep), fc.constantFrom(20, 32, 33, 200, 5_000, 40_000))
    .map(([write, depth]) => write(depth)),
  fc
    .tuple(fc.constantFrom(...large), fc.constantFrom(1_000, 100_000, 300_000))
    .map(([write, size]) => write(size)),
);

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** A text as bytes, mostly in UTF-8, sometimes in what is no UTF-8. */
export const encoded = (text: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> => {
  const utf8 = text.map((chars) => Uint8Array.from(Buffer.from(chars)));
  return fc.oneof(
    { weight: 12, arbitrary: utf8 },
    { weight: 1, arbitrary: utf8.map((bytes) => Buffer.concat([byteOrderMark, bytes])) },
    { weight: 1, arbitrary: text.map((chars) => Uint8Array.from(Buffer.from(chars, "utf16le"))) },
    {
      weight: 1,
      arbitrary: utf8.map((bytes) => Buffer.concat([bytes, Buffer.from([0xed, 0xa0, 0x80])])),
    },
    { weight: 3, arbitrary: damaged(utf8) },
  );
};

/** Any body at all. */
export const hostileBody: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 6, arbitrary: encoded(jsonText) },
  { weight: 1, arbitrary: excessiveJson.map((text) => Uint8Array.from(Buffer.from(text))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
);

/** What is done to one place of a value that was good. */
interface Fault {
  /** Which place, counted from the top and around. */
  readonly place: number;
  readonly kind: "replace" | "remove" | "repeat" | "rename";
  readonly text: string;
}

/** A good value as JSON text, or with up to two of its places spoilt. */
export const spoilt = (good: fc.Arbitrary<Json>): fc.Arbitrary<string> =>
  fc
    .tuple(
      good,
      fc.array(
        fc.record({
          place: fc.nat(60),
          kind: fc.constantFrom("replace", "replace", "remove", "repeat", "rename"),
          text: fc.oneof(
            { weight: 20, arbitrary: jsonText },
            { weight: 20, arbitrary: stringText },
            { weight: 1, arbitrary: excessiveJson },
          ),
        }),
        { maxLength: 2 },
      ),
    )
    .map(([value, faults]) => written(value, faults));

/** How many places a value has: itself, and all that is in it. */
function placesIn(value: Json): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, part) => sum + placesIn(part), 1);
}

function written(value: Json, faults: readonly Fault[]): string {
  const places = placesIn(value);
  let place = 0;
  const write = (part: Json, key: string | null): string[] => {
    const here = place++;
    const fault = faults.find((candidate) => candidate.place % places === here);
    const named = (text: string, name = key): string =>
      name === null ? text : `${JSON.stringify(name)}:${text}`;
    const text = textOf(part, write);
    switch (fault?.kind) {
      case "replace":
        return [named(fault.text)];
      case "remove":
        return key === null ? [named(fault.text)] : [];
      case "repeat":
        return [named(text), named(fault.text)];
      case "rename":
        return [named(text, key === null ? null : "__proto__")];
      default:
        return [named(text)];
    }
  };
  return write(value, null).join(",");
}

function textOf(value: Json, write: (part: Json, key: string | null) => string[]): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.flatMap((part: Json) => write(part, null)).join(",")}]`;
  return `{${Object.entries(value)
    .flatMap(([key, part]) => write(part, key))
    .join(",")}}`;
}
