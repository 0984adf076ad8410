import type { Secrets } from "../../../../src/gateway/signatures/signature.ts";

import {
  type Attempt,
  now,
  onlyToday,
  plain,
  rotating,
  type Row,
  type Signer,
  today,
  yesterday,
} from "./signer.ts";

export function headerRows(by: Signer): readonly Row[] {
  const { headerName, scheme } = by;
  const right = by.header(plain);
  const wrong = by.header(plain, { secret: "wrong" });
  const headers = (...values: readonly string[]): Attempt => ({
    headers: values.map((value) => [headerName, value]),
  });
  // `Headers` joins repeated values: a list with two times, or two signatures in one value.
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
    ["surrounding white space, which HTTP removes", "current", { header: ` \t${right}\t ` }],
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
        [`with ${name}, only the latter right`, "wrong-signature", both(wrong, right)],
        [`with ${name}, both wrong`, "wrong-signature", both(wrong, wrong)],
        [`with ${name}, which is empty`, blank, both(right, "")],
        [`with ${name}, the first one empty`, blank, both("", right)],
      ];
    }),
  ];
}

export function secretRows(by: Signer): readonly Row[] {
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
    ['the text "null" while no previous one is set', wrong, signedWith("null", onlyToday)],
    ["an unknown one", wrong, signedWith("another", onlyToday)],
    ["newline after it", wrong, signedWith(`${today}\n`, onlyToday)],
    ["space before it", wrong, signedWith(` ${today}`, onlyToday)],
    ["in upper case", wrong, signedWith(today.toUpperCase(), onlyToday)],
    ["both concatenated", wrong, signedWith(today + yesterday, rotating)],
    [
      "surrounding white space, part of the secret",
      "current",
      signedWith(` ${today}\n`, { ...onlyToday, current: ` ${today}\n` }),
    ],
    ["longer than a hash block", "current", signedWith(long, { ...onlyToday, current: long })],
    [
      "longer than a hash block, truncated",
      wrong,
      signedWith(long.slice(0, -1), { ...onlyToday, current: long }),
    ],
    [
      "non-ASCII, encoded as UTF-8",
      "current",
      signedWith(beyondAscii, { ...onlyToday, current: beyondAscii }),
    ],
  ];
}

export function timestampRows(by: Signer): readonly Row[] {
  if (by.scheme.signed !== "timestamp-dot-raw") return [];
  const { toleranceSeconds } = by.scheme;
  const text = by.encoded(plain);
  /** Signs with this text as the time. */
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
    ["time of receipt NaN", "stale-timestamp", late(Number.NaN)],
    ["too old, signed with another secret", "wrong-signature", { header: by.header(plain, wrong) }],
    ["not the signed time", "wrong-signature", { header: by.value(text, `${now - 1}`) }],
    ["not the signed time, too old", "wrong-signature", { header: by.value(text, "1") }],
    ["leading zeros, signed as sent", "current", at(`00${now}`)],
    ["leading zeros, signed without", "wrong-signature", { header: by.value(text, `00${now}`) }],
    ["none", "missing-timestamp", { header: `v1=${text}` }],
    ["under another name", "missing-timestamp", { header: `T=${now},v1=${text}` }],
    ["empty", malformed, at("")],
    ["thirteen digits (milliseconds)", malformed, at(now * 1_000)],
    ["with a plus", malformed, at(`+${now}`)],
    ["with a minus", malformed, at(`-${now}`)],
    ["with decimals", malformed, at(`${now}.0`)],
    ["with an exponent", malformed, at("17637163e2")],
    ["in hex", malformed, at(`0x${now.toString(16)}`)],
    ["with a space before it", malformed, at(` ${now}`)],
    ["with a non-ASCII digit", malformed, at(`${now}\u00b2`)],
    ["not a number", malformed, at("NaN")],
    ["two, the same", malformed, { header: `t=${now},${by.header(plain)}` }],
    ["two, the right one first", malformed, { header: `${by.header(plain)},t=${now - 1}` }],
    ["two, the right one last", malformed, { header: `t=${now - 1},${by.header(plain)}` }],
    ["two, one of them empty", malformed, { header: `t=,${by.header(plain)}` }],
  ];
}

export function severalRows(by: Signer): readonly Row[] {
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
    ["separated by semicolons", "malformed-signature", header(`t=${now};${right}`)],
  ];
}
