import { describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";

import fc from "fast-check";

import {
  type SecretRole,
  type Secrets,
  sign,
  type SignatureFault,
  type SignatureScheme,
  verifier,
} from "../../src/webhooks/signature.ts";

/**
 * What holds for every provider's signature, told by its scheme alone: a provider in the catalogue
 * gets all of this with no line of test written. Signatures are made here with node:crypto, not with
 * the engine under test.
 */
export function signatureSuite(name: string, scheme: SignatureScheme): void {
  const by = signer(scheme);
  describe(`signature of ${name}`, () => {
    for (const [section, rowsOf] of Object.entries(sections)) {
      describe(section, () => {
        for (const [behaviour, outcome, attempt] of rowsOf(by)) {
          test(`${behaviour}: ${outcome}`, () => expect(outcomeOf(by, attempt)).toBe(outcome));
        }
      });
    }
    describe("verifier", () => verifierTests(by));
    describe("for anything sent", () => properties(by));
  });
}

/** What comes of a request: the secret that it verified with, or why it did not. */
type Outcome = SecretRole | SignatureFault;

/** How a request differs from a correct one. */
interface Attempt {
  readonly body?: Uint8Array;
  /** The value of the scheme's first header; made for the body where it is not given; null: not sent. */
  readonly header?: string | null;
  /** All signature headers, where more than the first one matters. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly secrets?: Secrets;
  readonly receivedAtMs?: number;
}
type Row = readonly [behaviour: string, outcome: Outcome, attempt: Attempt];

const sections: Readonly<Record<string, (by: Signer) => readonly Row[]>> = {
  "bodies as they are": bodyRows,
  "bodies that were changed": changedBodyRows,
  "signatures that were changed": changedSignatureRows,
  "ways to write a signature": (by) =>
    by.scheme.encoding === "hex" ? hexRows(by) : base64Rows(by),
  "signatures of another kind": otherKindRows,
  prefix: prefixRows,
  headers: headerRows,
  secrets: secretRows,
  timestamp: timestampRows,
  "several signatures": (by) => (by.timestamped ? severalRows(by) : []),
  "JSON written differently": (by) => (by.compacts ? compactRows(by) : rawOnlyRows(by)),
};

const now = 1_763_716_364;
const today = "it was a bright cold day";
const yesterday = "the clocks were striking thirteen";
const onlyToday: Secrets = { current: today, previous: null };
const rotating: Secrets = { current: today, previous: yesterday };

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const joined = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);
const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf);
const invalidUtf8 = joined(utf8('{"a":"'), Uint8Array.of(0xff, 0xc3, 0x28, 0x80), utf8('"}'));
const plain = utf8('{"id":"evt_1","note":"caf\u00e9 \u{1f6eb}","n":[1,2.50],"z":null}');

interface SignOptions {
  readonly secret?: string;
  readonly time?: string;
  readonly algorithm?: SignatureScheme["algorithm"];
}

/** Signs as the provider does, or as wrongly as a row asks for. */
function signer(scheme: SignatureScheme) {
  const timestamped = scheme.signed === "timestamp-dot-raw";
  const mac = (body: Uint8Array, options: SignOptions = {}): Buffer => {
    const { secret = today, time = `${now}`, algorithm = scheme.algorithm } = options;
    const hmac = createHmac(algorithm, secret);
    return hmac
      .update(timestamped ? `${time}.` : "")
      .update(body)
      .digest();
  };
  const encode = (bytes: Buffer): string => bytes.toString(scheme.encoding);
  const value = (encoded: string, time = `${now}`): string =>
    timestamped ? `t=${time},v1=${encoded}` : `${scheme.prefix ?? ""}${encoded}`;
  return {
    scheme,
    timestamped,
    compacts: scheme.signed === "raw-or-compact-json",
    headerName: scheme.headers[0] ?? "",
    mac,
    encode,
    /** The header value that holds an encoded signature. */
    value,
    /** The encoded signature of a body. */
    encoded: (body: Uint8Array, options: SignOptions = {}) => encode(mac(body, options)),
    /** The header value that signs a body. */
    header: (body: Uint8Array, options: SignOptions = {}) =>
      value(encode(mac(body, options)), options.time),
    /** A body whose encoded signature matches. */
    bodyWithSignature: (pattern: RegExp): Uint8Array => {
      for (let n = 0; ; n += 1) {
        const body = utf8(`{"n":${n}}`);
        if (pattern.test(encode(mac(body)))) return body;
      }
    },
  };
}
type Signer = ReturnType<typeof signer>;

function outcomeOf(by: Signer, attempt: Attempt): Outcome {
  const body = attempt.body ?? plain;
  const { header = by.header(body), receivedAtMs = now * 1_000 } = attempt;
  const headers = new Headers();
  const sent = attempt.headers ?? (header === null ? [] : [[by.headerName, header] as const]);
  for (const [name, value] of sent) headers.append(name, value);
  const verify = verifier(by.scheme, attempt.secrets ?? onlyToday);
  const verdict = verify({ headers, bytes: body, receivedAtMs });
  if ("fault" in verdict) return verdict.fault;
  expect(verdict.verified.bytes).toBe(body);
  return verdict.verified.signedWith;
}

function bodyRows(): readonly Row[] {
  return [
    ["JSON", "current", { body: plain }],
    ["no body", "current", { body: new Uint8Array() }],
    ["one byte", "current", { body: Uint8Array.of(0x7b) }],
    ["1 MiB", "current", { body: new Uint8Array(1_048_576).fill(0x61) }],
    ["byte order mark", "current", { body: joined(byteOrderMark, plain) }],
    ["invalid UTF-8", "current", { body: invalidUtf8 }],
    ["NUL bytes", "current", { body: Uint8Array.of(0, 0x7b, 0, 0, 0x7d, 0) }],
    ["emoji", "current", { body: utf8('{"a":"\u{1f6eb}\u{1f468}\u200d\u{1f469}"}') }],
    ["odd white space", "current", { body: utf8('\t{ "a"\r\n :\v\f 1\u00a0}  ') }],
    ["newline at the end", "current", { body: joined(plain, utf8("\r\n")) }],
    ["white space only", "current", { body: utf8(" \n ") }],
    ["a form", "current", { body: utf8("payload=%7B%22a%22%3A+1%7D") }],
    ["a string that never ends", "current", { body: utf8('{"a": "b \\') }],
  ];
}

function changedBodyRows(by: Signer): readonly Row[] {
  const signedThenSent = (signed: Uint8Array, body: Uint8Array): Attempt => ({
    body,
    header: by.header(signed),
  });
  const wrong = "wrong-signature";
  const replaced = utf8(new TextDecoder().decode(invalidUtf8));
  return [
    ["one bit of the first byte", wrong, signedThenSent(plain, flipped(plain, 0))],
    ["one bit of the last byte", wrong, signedThenSent(plain, flipped(plain, plain.length - 1))],
    ["last byte gone", wrong, signedThenSent(plain, plain.subarray(0, -1))],
    ["all gone", wrong, signedThenSent(plain, new Uint8Array())],
    ["a body where none was signed", wrong, signedThenSent(new Uint8Array(), plain)],
    ["NUL added", wrong, signedThenSent(plain, joined(plain, Uint8Array.of(0)))],
    // White space outside strings is no part of compact JSON.
    [
      "newline added",
      by.compacts ? "current" : wrong,
      signedThenSent(plain, joined(plain, utf8("\n"))),
    ],
    ["newline removed", wrong, signedThenSent(joined(plain, utf8("\n")), plain)],
    ["LF made CRLF", wrong, signedThenSent(utf8("{\n}"), utf8("{\r\n}"))],
    ["byte order mark added", wrong, signedThenSent(plain, joined(byteOrderMark, plain))],
    ["byte order mark removed", wrong, signedThenSent(joined(byteOrderMark, plain), plain)],
    ["invalid UTF-8 replaced by U+FFFD", wrong, signedThenSent(invalidUtf8, replaced)],
    ["U+FFFD replaced by invalid UTF-8", wrong, signedThenSent(replaced, invalidUtf8)],
    ["\u00e9 decomposed", wrong, signedThenSent(utf8('"\u00e9"'), utf8('"e\u0301"'))],
  ];
}

function changedSignatureRows(by: Signer): readonly Row[] {
  const { mac, encode, value } = by;
  const right = mac(plain);
  const text = encode(right);
  const half = text.length / 2;
  const sent = (encoded: string): Attempt => ({ header: value(encoded) });
  const malformed = "malformed-signature";
  return [
    ["one bit of the first byte", "wrong-signature", sent(encode(flipped(right, 0)))],
    ["one bit of a middle byte", "wrong-signature", sent(encode(flipped(right, 10)))],
    ["one bit of the last byte", "wrong-signature", sent(encode(flipped(right, right.length - 1)))],
    ["bytes in reverse", "wrong-signature", sent(encode(Buffer.from(right).reverse()))],
    ["all zero", "wrong-signature", sent(encode(Buffer.alloc(right.length)))],
    ["nothing but the frame", malformed, sent("")],
    ["last character gone", malformed, sent(text.slice(0, -1))],
    ["first character gone", malformed, sent(text.slice(1))],
    ["one character more", malformed, sent(`${text}a`)],
    ["one byte less", malformed, sent(encode(right.subarray(0, -1)))],
    ["one byte more", malformed, sent(encode(Buffer.concat([right, Buffer.alloc(1)])))],
    ["twice over", malformed, sent(text + text)],
    ["zz after it", malformed, sent(`${text}zz`)],
    ["junk after it", malformed, sent(`${text};junk`)],
    ["a control character after it", malformed, sent(`${text}\u0001`)],
    ["a no-break space after it", malformed, sent(`${text}\u00a0`)],
    ["a space in the middle", malformed, sent(`${text.slice(0, half)} ${text.slice(half)}`)],
    ["a tab in the middle", malformed, sent(`${text.slice(0, half)}\t${text.slice(half)}`)],
    ["in quotes", malformed, sent(`"${text}"`)],
    ["last character beyond ASCII", malformed, sent(`${text.slice(0, -1)}\u00e9`)],
    ["all characters beyond ASCII", malformed, sent("\u00e9".repeat(text.length))],
    ["as many UTF-8 bytes beyond ASCII", malformed, sent("\u00e9".repeat(half))],
    ["1 MB of them", malformed, sent("a".repeat(1_000_000))],
    ["1 MB beyond ASCII", malformed, sent("\u00e9".repeat(1_000_000))],
  ];
}

function hexRows(by: Signer): readonly Row[] {
  const body = by.bodyWithSignature(/[a-f]$/);
  const text = by.encoded(body);
  const sent = (encoded: string): Attempt => ({ body, header: by.value(encoded) });
  const malformed = "malformed-signature";
  return [
    ["lower case", "current", sent(text)],
    ["upper case", malformed, sent(text.toUpperCase())],
    ["one upper-case digit", malformed, sent(text.slice(0, -1) + text.slice(-1).toUpperCase())],
    ["an odd number of digits", malformed, sent(`${text}0`)],
    ["zz for the last two digits", malformed, sent(`${text.slice(0, -2)}zz`)],
    ["zz for the first two digits", malformed, sent(`zz${text.slice(2)}`)],
    ["0x before it", malformed, sent(`0x${text}`)],
    ["bytes set apart by colons", malformed, sent(text.replaceAll(/..(?!$)/g, "$&:"))],
    ["base64", malformed, sent(by.mac(body).toString("base64"))],
    ["base64url", malformed, sent(by.mac(body).toString("base64url"))],
  ];
}

function base64Rows(by: Signer): readonly Row[] {
  const body = by.bodyWithSignature(/[+].*[/]|[/].*[+]/);
  const text = by.encoded(body);
  const sent = (encoded: string): Attempt => ({ body, header: by.value(encoded) });
  const malformed = "malformed-signature";
  return [
    ["standard alphabet, padded", "current", sent(text)],
    ["URL alphabet, padded", malformed, sent(text.replaceAll("+", "-").replaceAll("/", "_"))],
    ["URL alphabet, unpadded", malformed, sent(by.mac(body).toString("base64url"))],
    ["one character of the URL alphabet", malformed, sent(text.replace("+", "-"))],
    ["unpadded", malformed, sent(text.replace(/=+$/, ""))],
    ["padded once more", malformed, sent(`${text}=`)],
    ["padded in front", malformed, sent(`=${text}`)],
    ["junk behind the padding", malformed, sent(`${text}AAAA`)],
    ["last character not canonical", malformed, sent(notCanonical(text))],
    ["hex", malformed, sent(by.mac(body).toString("hex"))],
    [
      "base64 of the hex",
      malformed,
      sent(Buffer.from(by.mac(body).toString("hex")).toString("base64")),
    ],
  ];
}

function otherKindRows(by: Signer): readonly Row[] {
  const { algorithm } = by.scheme;
  const other = algorithm === "sha1" ? "sha256" : "sha1";
  const size = by.mac(plain).length;
  const otherMac = by.mac(plain, { algorithm: other });
  const resized = Buffer.alloc(size);
  otherMac.copy(resized);
  const digest = (...parts: readonly Uint8Array[]): Buffer =>
    createHash(algorithm)
      .update(joined(...parts))
      .digest();
  const sent = (mac: Buffer): Attempt => ({ header: by.value(by.encode(mac)) });
  const timeless = createHmac(algorithm, today).update(plain).digest();
  const withoutTime: Row = ["the body without the time", "wrong-signature", sent(timeless)];
  return [
    ["the other algorithm", "malformed-signature", sent(otherMac)],
    ["the other algorithm, cut or filled to size", "wrong-signature", sent(resized)],
    ["a plain digest of the body", "wrong-signature", sent(digest(plain))],
    ["a plain digest of secret and body", "wrong-signature", sent(digest(utf8(today), plain))],
    ["an empty secret", "wrong-signature", sent(by.mac(plain, { secret: "" }))],
    ...(by.timestamped ? [withoutTime] : []),
  ];
}

function prefixRows(by: Signer): readonly Row[] {
  const { timestamped, scheme } = by;
  const { prefix = "" } = scheme;
  if (timestamped) return [];
  const text = by.encoded(plain);
  const malformed = "malformed-signature";
  if (prefix === "") {
    return [
      ["one that the scheme lacks", malformed, { header: `${scheme.algorithm}=${text}` }],
      ["v1= as others write", malformed, { header: `v1=${text}` }],
    ];
  }
  return [
    ["missing", malformed, { header: text }],
    ["of another algorithm", malformed, { header: `md5=${text}` }],
    ["doubled", malformed, { header: prefix + prefix + text }],
    ["in upper case", malformed, { header: prefix.toUpperCase() + text }],
    ["a space after it", malformed, { header: `${prefix} ${text}` }],
    [
      "a space within it",
      malformed,
      { header: `${prefix.slice(0, -1)} ${prefix.slice(-1)}${text}` },
    ],
    ["a no-break space before it", malformed, { header: `\u00a0${prefix}${text}` }],
    ["behind the signature", malformed, { header: text + prefix }],
    ["alone", malformed, { header: prefix }],
  ];
}

function headerRows(by: Signer): readonly Row[] {
  const { headerName, scheme } = by;
  const right = by.header(plain);
  const wrong = by.header(plain, { secret: "wrong" });
  const headers = (...values: readonly string[]): Attempt => ({
    headers: values.map((value) => [headerName, value]),
  });
  // A list of items with two times, or what no single signature can be.
  const repeated = by.timestamped ? "malformed-signature" : "several-signatures";
  const blank = by.timestamped ? "missing-timestamp" : "malformed-signature";
  return [
    ["none", "missing-signature", { header: null }],
    ["another name", "missing-signature", { headers: [[`${headerName}-2`, right]] }],
    ["empty", blank, { header: "" }],
    ["blank", blank, { header: " \t " }],
    ["a word", blank, { header: "undefined" }],
    ["1 MB of spaces", blank, { header: `a${" ".repeat(1_000_000)}a` }],
    ["a comma only", by.timestamped ? blank : repeated, { header: "," }],
    ["1 MB of commas", by.timestamped ? blank : repeated, { header: ",".repeat(1_000_000) }],
    ["white space around, which HTTP takes off", "current", { header: ` \t${right}\t ` }],
    ["name in upper case", "current", { headers: [[headerName.toUpperCase(), right]] }],
    ["twice, right and wrong", repeated, headers(right, wrong)],
    ["twice, wrong and right", repeated, headers(wrong, right)],
    ["twice, right both times", repeated, headers(right, right)],
    ["twice, right and empty", by.timestamped ? "current" : repeated, headers(right, "")],
    ...scheme.headers.map((name): Row => [
      `${name} alone`,
      "current",
      { headers: [[name, right]] },
    ]),
    ...scheme.headers.slice(1).flatMap((name): readonly Row[] => {
      const both = (first: string, second: string): Attempt => ({
        headers: [
          [headerName, first],
          [name, second],
        ],
      });
      return [
        [`with ${name}, both right`, "current", both(right, right)],
        [`with ${name}, which is wrong`, "wrong-signature", both(right, wrong)],
        [`with ${name}, which alone is right`, "wrong-signature", both(wrong, right)],
        [`with ${name}, both wrong`, "wrong-signature", both(wrong, wrong)],
        [`with ${name}, which is empty`, blank, both(right, "")],
        [`with ${name}, beside an empty one`, blank, both("", right)],
      ];
    }),
  ];
}

function secretRows(by: Signer): readonly Row[] {
  const signedWith = (secret: string, secrets: Secrets): Attempt => ({
    header: by.header(plain, { secret }),
    secrets,
  });
  const wrong = "wrong-signature";
  const long = "a secret longer than a block of the hash ".repeat(5);
  const beyondAscii = "sch\u00fcssel \u{1f511}";
  return [
    ["the current of two", "current", signedWith(today, rotating)],
    ["the previous of two", "previous", signedWith(yesterday, rotating)],
    ["neither of two", wrong, signedWith("the day before", rotating)],
    [
      "the same one in both roles",
      "current",
      signedWith(today, { current: today, previous: today }),
    ],
    ["the previous one once it is retired", wrong, signedWith(yesterday, onlyToday)],
    ["null as a word, for a previous one not set", wrong, signedWith("null", onlyToday)],
    ["another", wrong, signedWith("another", onlyToday)],
    ["newline after it", wrong, signedWith(`${today}\n`, onlyToday)],
    ["space before it", wrong, signedWith(` ${today}`, onlyToday)],
    ["in upper case", wrong, signedWith(today.toUpperCase(), onlyToday)],
    ["both of them in one", wrong, signedWith(today + yesterday, rotating)],
    [
      "white space in it counts",
      "current",
      signedWith(` ${today}\n`, { ...onlyToday, current: ` ${today}\n` }),
    ],
    ["longer than a block", "current", signedWith(long, { ...onlyToday, current: long })],
    [
      "longer than a block, cut",
      wrong,
      signedWith(long.slice(0, -1), { ...onlyToday, current: long }),
    ],
    [
      "beyond ASCII, as UTF-8",
      "current",
      signedWith(beyondAscii, { ...onlyToday, current: beyondAscii }),
    ],
  ];
}

function timestampRows(by: Signer): readonly Row[] {
  if (by.scheme.signed !== "timestamp-dot-raw") return [];
  const { toleranceSeconds } = by.scheme;
  const text = by.encoded(plain);
  /** Rightly signed for a time, whatever it looks like. */
  const at = (time: number | string): Attempt => ({
    header: by.header(plain, { time: `${time}` }),
  });
  const late = (ms: number): Attempt => ({
    header: by.header(plain),
    receivedAtMs: now * 1_000 + ms,
  });
  const toleranceMs = toleranceSeconds * 1_000;
  const wrong = { secret: "wrong", time: `${now - toleranceSeconds - 1}` };
  const malformed = "malformed-signature";
  return [
    ["as old as allowed", "current", at(now - toleranceSeconds)],
    ["1 s too old", "stale-timestamp", at(now - toleranceSeconds - 1)],
    ["1 ms too old", "stale-timestamp", late(toleranceMs + 1)],
    ["as far ahead as allowed", "current", at(now + toleranceSeconds)],
    ["1 s too far ahead", "stale-timestamp", at(now + toleranceSeconds + 1)],
    ["1 ms too far ahead", "stale-timestamp", late(-toleranceMs - 1)],
    ["the epoch", "stale-timestamp", at(0)],
    ["twelve digits", "stale-timestamp", at("999999999999")],
    ["time of arrival unknown", "stale-timestamp", late(Number.NaN)],
    ["too old and signed wrongly", "wrong-signature", { header: by.header(plain, wrong) }],
    ["that of another signature", "wrong-signature", { header: by.value(text, `${now - 1}`) }],
    ["that of another signature, too old", "wrong-signature", { header: by.value(text, "1") }],
    ["leading zeros, signed as sent", "current", at(`00${now}`)],
    ["leading zeros, signed without", "wrong-signature", { header: by.value(text, `00${now}`) }],
    ["none", "missing-timestamp", { header: `v1=${text}` }],
    ["under another name", "missing-timestamp", { header: `T=${now},v1=${text}` }],
    ["empty", malformed, at("")],
    ["thirteen digits, as milliseconds are", malformed, at(now * 1_000)],
    ["with a plus", malformed, at(`+${now}`)],
    ["with a minus", malformed, at(`-${now}`)],
    ["with decimals", malformed, at(`${now}.0`)],
    ["with an exponent", malformed, at("17637163e2")],
    ["in hex", malformed, at(`0x${now.toString(16)}`)],
    ["with a space before it", malformed, at(` ${now}`)],
    ["with a digit beyond ASCII", malformed, at(`${now}\u00b2`)],
    ["not a number", malformed, at("NaN")],
    ["two, the same", malformed, { header: `t=${now},${by.header(plain)}` }],
    ["two, the right one first", malformed, { header: `${by.header(plain)},t=${now - 1}` }],
    ["two, the right one last", malformed, { header: `t=${now - 1},${by.header(plain)}` }],
    ["two, one of them empty", malformed, { header: `t=,${by.header(plain)}` }],
  ];
}

function severalRows(by: Signer): readonly Row[] {
  const right = `v1=${by.encoded(plain)}`;
  const old = `v1=${by.encoded(plain, { secret: yesterday })}`;
  const wrong = `v1=${by.encoded(plain, { secret: "wrong" })}`;
  const wrongs = (count: number): string[] => Array<string>(count).fill(wrong);
  const items = (...list: readonly string[]): Attempt => ({
    header: [`t=${now}`, ...list].join(","),
  });
  const header = (value: string): Attempt => ({ header: value });
  const legacy = right.replace("v1", "v0");
  return [
    ["the right one first", "current", items(right, wrong, wrong)],
    ["the right one in the middle", "current", items(wrong, right, wrong)],
    ["the right one last", "current", items(wrong, wrong, right)],
    ["none of them right", "wrong-signature", items(wrong, wrong, wrong)],
    ["eight, the right one last", "current", items(...wrongs(7), right)],
    ["nine, the right one first", "several-signatures", items(right, ...wrongs(8))],
    ["nine, the right one last", "several-signatures", items(...wrongs(8), right)],
    ["malformed beside the right one", "current", items("v1=zz", right, "v1=")],
    ["all of them malformed", "malformed-signature", items("v1=zz", "v1=")],
    ["malformed beside a wrong one", "wrong-signature", items("v1=zz", wrong)],
    ["of both secrets", "current", { ...items(old, right), secrets: rotating }],
    [
      "of the previous secret beside a wrong one",
      "previous",
      { ...items(wrong, old), secrets: rotating },
    ],
    ["of the previous secret once it is retired", "wrong-signature", items(old)],
    ["no v1", "missing-signature", items()],
    ["v0 only", "missing-signature", items(legacy)],
    ["v1 without an equals sign", "missing-signature", items(right.replace("=", "x"))],
    ["V1 in upper case", "missing-signature", items(right.replace("v1", "V1"))],
    ["v0 right, v1 wrong", "wrong-signature", items(legacy, wrong)],
    ["v0 wrong, v1 right", "current", items("v0=zz", right)],
    ["unknown items", "current", items("v2=zz", "scheme", "=", "v10=zz", right, "te=1")],
    ["empty items", "current", items("", right, "", "")],
    ["time after them", "current", header(`${right},t=${now}`)],
    ["spaces and tabs around items", "current", header(`t=${now} , \t${wrong}\t,  ${right}`)],
    ["a space after v1=", "malformed-signature", items(right.replace("=", "= "))],
    ["set apart by semicolons", "malformed-signature", header(`t=${now};${right}`)],
  ];
}

/** JSON whose meaning stays and whose text changes when it is parsed and printed again. */
const fragile = [
  "1.0",
  "12345678901234567890",
  "1e3",
  "-0",
  '"\\u00e9"',
  '"\\/"',
  '"\\u0041"',
  '{"b":1,"10":2,"9":3}',
  '{"k":1,"k":2}',
] as const;

function rawOnlyRows(by: Signer): readonly Row[] {
  const compact = '{"a":[1,{"b":"c d"}]}';
  const pretty = JSON.stringify(JSON.parse(compact), null, 2);
  const signedThenSent = (signed: string, sent: string): Attempt => ({
    body: utf8(sent),
    header: by.header(utf8(signed)),
  });
  return [
    ["compact, signed pretty-printed", "wrong-signature", signedThenSent(pretty, compact)],
    ["pretty-printed, signed compact", "wrong-signature", signedThenSent(compact, pretty)],
    ...fragile.flatMap((token): readonly Row[] => [
      [`${token} as sent`, "current", signedThenSent(token, token)],
      [
        `${token} parsed and printed again`,
        "wrong-signature",
        signedThenSent(printedAgain(token), token),
      ],
    ]),
  ];
}

function compactRows(by: Signer): readonly Row[] {
  const compact = '{"a":[1,{"b":"c d"},[],{}],"e":true}';
  const value: unknown = JSON.parse(compact);
  const pretty = JSON.stringify(value, null, 2);
  const signedThenSent = (signed: string, sent: string): Attempt => ({
    body: utf8(sent),
    header: by.header(utf8(signed)),
  });
  const old = { header: by.header(utf8(compact), { secret: yesterday }), body: utf8(pretty) };
  const wrong = "wrong-signature";
  return [
    ["pretty-printed, signed compact", "current", signedThenSent(compact, pretty)],
    [
      "tabs and CRLF, signed compact",
      "current",
      signedThenSent(compact, `\t${pretty.replaceAll("\n", "\r\n\t")}\r\n`),
    ],
    ["pretty-printed, signed as sent", "current", signedThenSent(pretty, pretty)],
    [
      "pretty-printed, signed compact with the previous secret",
      "previous",
      { ...old, secrets: rotating },
    ],
    ["compact, signed pretty-printed", wrong, signedThenSent(pretty, compact)],
    [
      "printed one way, signed another",
      wrong,
      signedThenSent(JSON.stringify(value, null, 1), pretty),
    ],
    ["space in a string removed", wrong, signedThenSent(compact, pretty.replace("c d", "cd"))],
    ["space in a string added", wrong, signedThenSent(compact, pretty.replace("c d", "c  d"))],
    ["space in a string made a tab", wrong, signedThenSent(compact, pretty.replace("c d", "c\td"))],
    ["space in a key added", wrong, signedThenSent(compact, pretty.replace('"e"', '"e "'))],
    ["space behind an escaped quote removed", wrong, signedThenSent('"\\" x"', '"\\"x"')],
    ["spaces that JSON does not know", wrong, signedThenSent("[1,2]", "[1,\f\v2]")],
    ["a no-break space", wrong, signedThenSent("[1,2]", "[1,\u00a02]")],
    [
      "byte order mark, signed with it",
      "current",
      signedThenSent(`\ufeff${compact}`, `\ufeff${pretty}`),
    ],
    ["byte order mark, signed without", wrong, signedThenSent(compact, `\ufeff${pretty}`)],
    ...fragile.flatMap((token): readonly Row[] => [
      [`${token} as sent`, "current", signedThenSent(`{"v":${token}}`, `{ "v" : ${token} }`)],
      [
        `${token} parsed and printed again`,
        wrong,
        signedThenSent(printedAgain(token), ` ${token}\n`),
      ],
    ]),
    ...awkwardStrings.map((text): Row => {
      const sent = `{ ${text} : ${text} , "b" : [ ${text} ] }`;
      return [
        `${text} as sent`,
        "current",
        signedThenSent(`{${text}:${text},"b":[${text}]}`, sent),
      ];
    }),
  ];
}

/** Strings that a careless reader takes to end too early or too late. */
const awkwardStrings = [
  '""',
  '" "',
  '"\\""',
  '" \\" , "',
  '"\\\\"',
  '" \\\\\\" : "',
  '"\\\\\\\\"',
  '"{ [ , : ] }"',
  '"// x"',
  '"\u00e9 \u{1f6eb}"',
] as const;

function verifierTests({ scheme, header, headerName, timestamped }: Signer): void {
  test("an empty current secret is refused when it is made", () => {
    expect(() => verifier(scheme, { current: "", previous: null })).toThrow("current");
    expect(() => verifier(scheme, { current: "", previous: yesterday })).toThrow("current");
  });

  test("an empty previous secret is refused when it is made", () => {
    expect(() => verifier(scheme, { current: today, previous: "" })).toThrow("previous");
  });

  test("one verifier serves many requests", () => {
    const verify = verifier(scheme, rotating);
    const outcomes = [today, "wrong", yesterday, today].map((secret) => {
      const headers = new Headers({ [headerName]: header(plain, { secret }) });
      const verdict = verify({ headers, bytes: plain, receivedAtMs: now * 1_000 });
      return "fault" in verdict ? verdict.fault : verdict.verified.signedWith;
    });
    expect(outcomes).toEqual(["current", "wrong-signature", "previous", "current"]);
  });

  test("sign writes what the provider would", () => {
    expect(sign(scheme, today, plain, now * 1_000 + 999)).toBe(header(plain));
    expect(sign(scheme, today, new Uint8Array(), now * 1_000)).toBe(header(new Uint8Array()));
    expect(header(plain).startsWith(timestamped ? `t=${now},v1=` : (scheme.prefix ?? ""))).toBe(
      true,
    );
  });
}

const bytes = (minLength = 0) => fc.uint8Array({ minLength, maxLength: 200 });
/** What a Headers object takes: Latin-1 without NUL, CR and LF. */
const headerCharacter = fc
  .integer({ min: 1, max: 0xff })
  .filter((code) => code !== 0x0a && code !== 0x0d)
  .map((code) => String.fromCharCode(code));
const headerText = fc.oneof(
  fc.string({ unit: headerCharacter, maxLength: 200 }),
  fc.string({ unit: fc.constantFrom("t", "=", "v", "1", ",", " ", "a", "+", "/"), maxLength: 200 }),
);

function properties(by: Signer): void {
  const size = by.mac(plain).length;

  test("junk is never taken and nothing throws", () => {
    fc.assert(
      fc.property(headerText, bytes(), fc.double(), (header, body, receivedAtMs) => {
        const outcome = outcomeOf(by, { header, body, receivedAtMs, secrets: rotating });
        expect(outcome).toMatch(/-(signature|signatures|timestamp)$/);
      }),
    );
  });

  test("a well-formed signature by nobody is wrong", () => {
    const anyMac = fc.uint8Array({ minLength: size, maxLength: size });
    fc.assert(
      fc.property(anyMac, bytes(), (mac, body) => {
        const header = by.value(by.encode(Buffer.from(mac)));
        expect(outcomeOf(by, { header, body, secrets: rotating })).toBe("wrong-signature");
      }),
    );
  });

  test("a header that was edited passes only with the whole signature in it", () => {
    const right = by.header(plain);
    const at = fc.nat(right.length);
    fc.assert(
      fc.property(at, fc.nat(3), headerText, (start, removed, inserted) => {
        const header = right.slice(0, start) + inserted + right.slice(start + removed);
        const outcome = outcomeOf(by, { header });
        // Other items may stand in a list; nothing but outer white space around a single signature.
        const intact = by.timestamped
          ? header.includes(by.encoded(plain)) && header.includes(`t=${now}`)
          : new Headers({ value: header }).get("value") === right;
        if (!intact) expect(outcome).not.toBe("current");
        else if (!by.timestamped) expect(outcome).toBe("current");
      }),
      { numRuns: 500 },
    );
  });

  test("one bit of the body is enough", () => {
    fc.assert(
      fc.property(bytes(1), fc.nat(), fc.nat(7), (body, position, bit) => {
        const header = by.header(body);
        const altered = flipped(body, position % body.length, bit);
        expect(outcomeOf(by, { header, body })).toBe("current");
        expect(outcomeOf(by, { header, body: altered })).toBe("wrong-signature");
      }),
    );
  });

  test("one bit of the signature is enough", () => {
    fc.assert(
      fc.property(bytes(), fc.nat(size - 1), fc.nat(7), (body, position, bit) => {
        const header = by.value(by.encode(flipped(by.mac(body), position, bit)));
        expect(outcomeOf(by, { header, body })).toBe("wrong-signature");
      }),
    );
  });

  test("what sign signs verifies, with the secret that signed it only", () => {
    const secret = fc.string({ unit: "binary", minLength: 1 });
    fc.assert(
      fc.property(secret, bytes(), (current, body) => {
        const header = sign(by.scheme, current, body, now * 1_000);
        const secrets = { current, previous: null };
        expect(outcomeOf(by, { header, body, secrets })).toBe("current");
        const rotated = { current: `${current}x`, previous: current };
        expect(outcomeOf(by, { header, body, secrets: rotated })).toBe("previous");
      }),
    );
  });
}

function flipped(original: Uint8Array, position: number, bit = 0): Buffer {
  const altered = Buffer.from(original);
  altered.writeUInt8(altered.readUInt8(position) ^ (1 << bit), position);
  return altered;
}

/** The same bytes in base64 that does not encode back to itself: unused bits are set. */
function notCanonical(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unpadded = text.replace(/=+$/, "");
  const last = alphabet.indexOf(unpadded.slice(-1));
  const altered = `${unpadded.slice(0, -1)}${alphabet.charAt(last + 1)}${text.slice(unpadded.length)}`;
  // Else the row would show nothing.
  expect(Buffer.from(altered, "base64").equals(Buffer.from(text, "base64"))).toBe(true);
  return altered;
}

function printedAgain(token: string): string {
  const printed = JSON.stringify(JSON.parse(token));
  // Else the row would show nothing.
  expect(printed).not.toBe(token);
  return printed;
}
