import { headerIn, signaturePlaces } from "../../../../src/inbound/signatures/scheme.ts";
import type { Secrets } from "../../../../src/inbound/signatures/signed-request.ts";

import { type Attempt, plain, type Row, type Signer, today, yesterday } from "./signer.ts";

export function headerRows(by: Signer): readonly Row[] {
  const { headerName, scheme } = by;
  const headerNames = signaturePlaces(scheme).flatMap((place) => headerIn(place) ?? []);
  const right = by.header(plain);
  const wrong = by.header(plain, { secret: "wrong" });
  const headers = (...values: readonly string[]): Attempt => ({
    headers: values.map((value) => [headerName, value]),
  });
  const separator = scheme.items?.separator;
  // `Headers` joins repeated values. In a list that commas separate, they are more items; a second time is an error.
  const isCommaList = separator === ",";
  const repeated = isCommaList && by.timestamped ? "malformed-signature" : "several-signatures";
  const twice = isCommaList && !by.timestamped ? "current" : repeated;
  const blank = by.timestamped
    ? "missing-timestamp"
    : by.listed
      ? "missing-signature"
      : "malformed-signature";
  return [
    ["none", "missing-signature", { header: null }],
    ["another name", "missing-signature", { headers: [[`${headerName}-2`, right]] }],
    ["empty", blank, { header: "" }],
    ["blank", blank, { header: " \t " }],
    ["a word", blank, { header: "undefined" }],
    ["100 kB of spaces", blank, { header: `a${" ".repeat(100_000)}a` }],
    ["a comma only", by.listed ? blank : "several-signatures", { header: "," }],
    ["100 kB of commas", by.listed ? blank : "several-signatures", { header: ",".repeat(100_000) }],
    ["surrounding white space, which HTTP removes", "current", { header: ` \t${right}\t ` }],
    ["name in upper case", "current", { headers: [[headerName.toUpperCase(), right]] }],
    ["twice, right and wrong", twice, headers(right, wrong)],
    ["twice, wrong and right", twice, headers(wrong, right)],
    ["twice, right both times", twice, headers(right, right)],
    ["twice, right and empty", isCommaList ? "current" : "several-signatures", headers(right, "")],
    ...headerNames.map((name): Row => [`${name} alone`, "current", { headers: [[name, right]] }]),
    ...headerNames.slice(1).flatMap((name): readonly Row[] => {
      const both = (first: string, second: string): Attempt => ({
        headers: [
          [headerName, first],
          [name, second],
        ],
      });
      return [
        [`with ${name}, both right`, "current", both(right, right)],
        [`with ${name}, which is wrong`, "wrong-signature", both(right, wrong)],
        [`with ${name}, only the latter right`, "wrong-signature", both(wrong, right)],
        [`with ${name}, both wrong`, "wrong-signature", both(wrong, wrong)],
        [`with ${name}, which is empty`, blank, both(right, "")],
        [`with ${name}, the first one empty`, blank, both("", right)],
      ];
    }),
  ];
}

/** What the signature covers besides the body. */
export function signedValueRows(by: Signer): readonly Row[] {
  const { scheme, signedHeaders } = by;
  const names = Object.keys(signedHeaders);
  const missing = "missing-signed-value";
  const text = JSON.stringify(scheme.signs);
  const url: readonly Row[] = /\{(?:url|query\.[^}]*)\}/.test(text)
    ? [
        ["another host", "wrong-signature", { url: by.url.replace("hooks.", "other.") }],
        [
          "another query",
          text.includes("{url}") ? "wrong-signature" : missing,
          { url: by.url.replace(/\?.*/, "?other=1") },
        ],
        ["another path", "wrong-signature", { url: by.url.replace("/test", "/another") }],
      ]
    : [];
  const method: readonly Row[] = text.includes("{method}")
    ? [["another method", "wrong-signature", { method: "PUT" }]]
    : [];
  const account: readonly Row[] =
    by.accountHeader === null
      ? []
      : [["of another account", "wrong-signature", { signed: { [by.accountHeader]: "another" } }]];
  return [
    ...names.flatMap((name): readonly Row[] => [
      [`${name} missing`, missing, { signed: { [name]: null } }],
      [`${name} changed`, "wrong-signature", { signed: { [name]: "another" } }],
      [`${name} empty`, "wrong-signature", { signed: { [name]: "" } }],
    ]),
    ...url.filter(([behaviour]) => text.includes("{url}") || behaviour === "another query"),
    ...method,
    ...account,
  ];
}

export function secretRows(by: Signer): readonly Row[] {
  const { scheme } = by;
  const signedWith = (secret: string, secrets: Secrets): Attempt => ({
    header: by.header(plain, { secret }),
    secrets,
  });
  const wrong = "wrong-signature";
  const [onlyToday, rotating] = [by.secrets(today), by.secrets(today, yesterday)];
  // A published key signs for all; what differs is then only what the secret says of the account.
  const usesSecret = scheme.kind === "hmac" || scheme.key === undefined;
  if (!usesSecret && !JSON.stringify(scheme.signs).includes("{secret}")) return [];
  const rows: readonly Row[] = [
    ["the current of two", "current", signedWith(today, rotating)],
    ["the previous of two", "previous", signedWith(yesterday, rotating)],
    ["neither of two", wrong, signedWith("the day before", rotating)],
    ["the same one in both roles", "current", signedWith(today, by.secrets(today, today))],
    ["the previous one once it is retired", wrong, signedWith(yesterday, onlyToday)],
    ["an unknown one", wrong, signedWith("another", onlyToday)],
  ];
  return scheme.kind === "hmac" && (scheme.secretEncoding ?? "text") === "text"
    ? [...rows, ...secretTextRows(by)]
    : rows;
}

/** Where the bytes of the secret's text are the key. */
function secretTextRows(by: Signer): readonly Row[] {
  const signedWith = (secret: string, current = today): Attempt => ({
    header: by.header(plain, { secret }),
    secrets: by.secrets(current),
  });
  const wrong = "wrong-signature";
  const long = "a secret longer than a block of the hash ".repeat(5);
  const beyondAscii = "sch\u00fcssel \u{1f511}";
  return [
    ['the text "null" while no previous one is set', wrong, signedWith("null")],
    ["newline after it", wrong, signedWith(`${today}\n`)],
    ["space before it", wrong, signedWith(` ${today}`)],
    ["in upper case", wrong, signedWith(today.toUpperCase())],
    ["both concatenated", wrong, signedWith(today + yesterday)],
    [
      "surrounding white space, part of the secret",
      "current",
      signedWith(` ${today}\n`, ` ${today}\n`),
    ],
    ["longer than a hash block", "current", signedWith(long, long)],
    ["longer than a hash block, truncated", wrong, signedWith(long.slice(0, -1), long)],
    ["non-ASCII, encoded as UTF-8", "current", signedWith(beyondAscii, beyondAscii)],
  ];
}
