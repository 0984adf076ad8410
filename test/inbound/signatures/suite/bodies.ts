import {
  type Attempt,
  flipped,
  joined,
  plain,
  type Row,
  type Signer,
  today,
  utf8,
  yesterday,
} from "./signer.ts";

const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf);
const invalidUtf8 = joined(utf8('{"a":"'), Uint8Array.of(0xff, 0xc3, 0x28, 0x80), utf8('"}'));

export function bodyRows(): readonly Row[] {
  return [
    ["JSON", "current", { body: plain }],
    ["an empty body", "current", { body: new Uint8Array() }],
    ["one byte", "current", { body: Uint8Array.of(0x7b) }],
    ["1 MiB", "current", { body: new Uint8Array(1_048_576).fill(0x61) }],
    ["byte order mark", "current", { body: joined(byteOrderMark, plain) }],
    ["invalid UTF-8", "current", { body: invalidUtf8 }],
    ["NUL bytes", "current", { body: Uint8Array.of(0, 0x7b, 0, 0, 0x7d, 0) }],
    ["emoji", "current", { body: utf8('{"a":"\u{1f6eb}\u{1f468}\u200d\u{1f469}"}') }],
    ["unusual white space", "current", { body: utf8('\t{ "a"\r\n :\v\f 1\u00a0}  ') }],
    ["newline at the end", "current", { body: joined(plain, utf8("\r\n")) }],
    ["white space only", "current", { body: utf8(" \n ") }],
    ["a form", "current", { body: utf8("payload=%7B%22a%22%3A+1%7D") }],
    ["an unterminated string", "current", { body: utf8('{"a": "b \\') }],
  ];
}

/** Signs one body, and sends another. */
const sends =
  (by: Signer) =>
  (signed: string | Uint8Array, sent: string | Uint8Array): Attempt => {
    const bytes = (body: string | Uint8Array) => (typeof body === "string" ? utf8(body) : body);
    return { body: bytes(sent), header: by.header(bytes(signed)) };
  };

export function changedBodyRows(by: Signer): readonly Row[] {
  const sent = sends(by);
  const wrong = by.coversBody ? "wrong-signature" : "current";
  const lastFlipped = flipped(plain, plain.length - 1);
  const replaced = utf8(new TextDecoder().decode(invalidUtf8));
  return [
    ["one bit of the first byte flipped", wrong, sent(plain, flipped(plain, 0))],
    ["one bit of the last byte flipped", wrong, sent(plain, lastFlipped)],
    ["last byte removed", wrong, sent(plain, plain.subarray(0, -1))],
    ["body removed", wrong, sent(plain, new Uint8Array())],
    ["body added to the signature of an empty one", wrong, sent(new Uint8Array(), plain)],
    ["NUL added", wrong, sent(plain, joined(plain, Uint8Array.of(0)))],
    // Compact JSON has no white space outside strings.
    ["newline added", by.compacts ? "current" : wrong, sent(plain, joined(plain, utf8("\n")))],
    ["newline removed", wrong, sent(joined(plain, utf8("\n")), plain)],
    ["LF changed to CRLF", wrong, sent("{\n}", "{\r\n}")],
    ["byte order mark added", wrong, sent(plain, joined(byteOrderMark, plain))],
    ["byte order mark removed", wrong, sent(joined(byteOrderMark, plain), plain)],
    ["invalid UTF-8 replaced by U+FFFD", wrong, sent(invalidUtf8, replaced)],
    ["U+FFFD replaced by invalid UTF-8", wrong, sent(replaced, invalidUtf8)],
    ["\u00e9 decomposed", wrong, sent('"\u00e9"', '"e\u0301"')],
  ];
}

/** JSON whose text changes when it is parsed and stringified, while its meaning stays the same. */
const fragile = [
  ...'1.0 12345678901234567890 1e3 -0 "\\u00e9" "\\/" "\\u0041"'.split(" "),
  '{"b":1,"10":2,"9":3}',
  '{"k":1,"k":2}',
];

export function rawOnlyRows(by: Signer): readonly Row[] {
  const compact = '{"a":[1,{"b":"c d"}]}';
  const pretty = JSON.stringify(JSON.parse(compact), null, 2);
  const sent = sends(by);
  const wrong = by.coversBody ? "wrong-signature" : "current";
  return [
    ["compact, signed pretty-printed", wrong, sent(pretty, compact)],
    ["pretty-printed, signed compact", wrong, sent(compact, pretty)],
    ...fragile.flatMap((token): readonly Row[] => [
      [`${token} as sent`, "current", sent(token, token)],
      [`${token} parsed and stringified`, wrong, sent(printedAgain(token), token)],
    ]),
  ];
}

export function compactRows(by: Signer): readonly Row[] {
  const compact = '{"a":[1,{"b":"c d"},[],{}],"e":true}';
  const value: unknown = JSON.parse(compact);
  const pretty = JSON.stringify(value, null, 2);
  const sent = sends(by);
  const old = { header: by.header(utf8(compact), { secret: yesterday }), body: utf8(pretty) };
  const wrong = "wrong-signature";
  return [
    ["pretty-printed, signed compact", "current", sent(compact, pretty)],
    [
      "tabs and CRLF, signed compact",
      "current",
      sent(compact, `\t${pretty.replaceAll("\n", "\r\n\t")}\r\n`),
    ],
    ["pretty-printed, signed as sent", "current", sent(pretty, pretty)],
    [
      "pretty-printed, signed compact with the previous secret",
      "previous",
      { ...old, secrets: by.secrets(today, yesterday) },
    ],
    ["compact, signed pretty-printed", wrong, sent(pretty, compact)],
    [
      "pretty-printed, signed with another indentation",
      wrong,
      sent(JSON.stringify(value, null, 1), pretty),
    ],
    ["space in a string removed", wrong, sent(compact, pretty.replace("c d", "cd"))],
    ["space in a string added", wrong, sent(compact, pretty.replace("c d", "c  d"))],
    ["space in a string changed to a tab", wrong, sent(compact, pretty.replace("c d", "c\td"))],
    ["space in a key added", wrong, sent(compact, pretty.replace('"e"', '"e "'))],
    ["space after an escaped quote removed", wrong, sent('"\\" x"', '"\\"x"')],
    ["white space that JSON does not allow", wrong, sent("[1,2]", "[1,\f\v2]")],
    ["a no-break space", wrong, sent("[1,2]", "[1,\u00a02]")],
    ["byte order mark, signed with it", "current", sent(`\ufeff${compact}`, `\ufeff${pretty}`)],
    ["byte order mark, signed without", wrong, sent(compact, `\ufeff${pretty}`)],
    ...fragile.flatMap((token): readonly Row[] => [
      [`${token} as sent`, "current", sent(`{"v":${token}}`, `{ "v" : ${token} }`)],
      [`${token} parsed and stringified`, wrong, sent(printedAgain(token), ` ${token}\n`)],
    ]),
    ...awkwardStrings.map((text): Row => {
      const spaced = `{ ${text} : ${text} , "b" : [ ${text} ] }`;
      return [`${text} as sent`, "current", sent(`{${text}:${text},"b":[${text}]}`, spaced)];
    }),
  ];
}

/** Strings whose end a naive parser finds too early or too late. */
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

function printedAgain(token: string): string {
  return JSON.stringify(JSON.parse(token));
}
