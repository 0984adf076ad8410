import fc from "fast-check";

/** Texts that have broken programs before. None looks like what the oracle takes for a leak. */
const notorious = [
  "",
  " ",
  "\t",
  "\0",
  "\r\n",
  "\u0085",
  "\u2028",
  "\ufeff",
  "\u202e",
  "\ud800",
  "\udfff\ud800",
  "a\u0301",
  "\ufb03",
  "\u0130",
  "\u{1f6eb}",
  "\uff11\uff12",
  "null",
  "undefined",
  "true",
  "NaN",
  "Infinity",
  "-1",
  "-0",
  "0",
  "01",
  "1.5",
  "1e3",
  "1e999",
  "0x10",
  "9007199254740993",
  "99999999999999999999999999",
  "2026-02-30",
  "-271821-04-20",
  "+275760-09-13",
  "2026-12-01T00:00:00Z",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "../../etc",
  "%00",
  "%",
  "%zz",
  "%c0%af",
  "%ed%a0%80",
  "' or '1'='1",
  '"; drop table users; --',
  "{{7*7}}",
  "${7*7}",
  "<script>alert(1)</script>",
  "a,b",
  "a;b=c",
  '"',
  "\\",
  "[]",
  "{}",
  "*",
];

/** Any text, half of a surrogate pair and control characters included. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...notorious) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("a", " ", "\u00e9", "0", "\u{1f6eb}", "%"), fc.nat(3_000))
      .map(([letter, times]) => letter.repeat(times)),
  },
);

/** The same as far as a header can hold it: tab, and Latin-1 without control characters. */
export const hostileHeaderValue: fc.Arbitrary<string> = hostileText.map((text) =>
  text.replaceAll(/[^\t\x20-\x7e\xa0-\xff]/gu, "?").trim(),
);

/** The same as one part of a path, percent-encoded or nearly so. */
export const hostileSegment: fc.Arbitrary<string> = fc.oneof(
  hostileText.map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom(
    "%",
    "%zz",
    "%00",
    "%c0%af",
    "%ed%a0%80",
    "%ff",
    "a%2fb",
    "%2e%2e",
    "a+b",
    ":id",
    "*",
  ),
);

/** A value of a query string, encoded well or badly. */
export const hostileQueryValue: fc.Arbitrary<string> = fc.oneof(
  hostileSegment,
  fc.nat(200).map(String),
);

/** A few changes to bytes: some are lost, doubled, turned, or joined by others. */
interface Damage {
  /** Where, as a share of the length. */
  readonly at: number;
  readonly kind: "cut" | "double" | "flip" | "insert";
  readonly bytes: Uint8Array;
}

const damage: fc.Arbitrary<Damage> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  kind: fc.constantFrom("cut", "double", "flip", "insert"),
  bytes: fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 4 }),
    fc.constantFrom(
      ...["{", "}", "[", '"', "\\", ",", ":", "$", "(", "@", "...", "\0", "\u00e9", "\ufeff"].map(
        (text) => Uint8Array.from(Buffer.from(text)),
      ),
    ),
  ),
});

/** What is left of bytes after up to four changes. */
export const damaged = (whole: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(whole, fc.array(damage, { minLength: 1, maxLength: 4 }))
    .map(([bytes, changes]) => changes.reduce<Uint8Array>(applied, bytes));

function applied(whole: Uint8Array, { at, kind, bytes }: Damage): Uint8Array {
  const place = Math.floor(at * whole.length);
  const end = Math.min(whole.length, place + bytes.length);
  const [head, middle, tail] = [
    whole.subarray(0, place),
    whole.subarray(place, end),
    whole.subarray(end),
  ];
  if (kind === "cut") return Buffer.concat([head, tail]);
  if (kind === "double") return Buffer.concat([head, middle, middle, tail]);
  if (kind === "insert") return Buffer.concat([head, bytes, middle, tail]);
  return Buffer.concat([head, middle.map((byte) => byte ^ (bytes[0] ?? 1)), tail]);
}
