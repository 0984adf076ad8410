import { oneOrMore } from "../../../../src/base/place.ts";
import { headerIn } from "../../../../src/inbound/signatures/scheme.ts";

import { type Attempt, now, plain, type Row, type Signer } from "./signer.ts";

/** Rows for schemes that sign a time. */
export function timestampRows(by: Signer): readonly Row[] {
  const { timestamp } = by.scheme;
  if (timestamp === undefined) return [];
  const { toleranceSeconds, unit = "seconds" } = timestamp;
  const toleranceMs = toleranceSeconds * 1_000;
  // Not taken from the engine: no scheme accepts more than five minutes.
  const ahead = Math.min(toleranceSeconds, 300);
  const isSigned = JSON.stringify(by.scheme.signs).includes("{timestamp}");
  const late = (ms: number): Attempt => ({
    header: by.header(plain),
    receivedAtMs: now * 1_000 + ms,
  });
  /** Signs with this text as the time. */
  const at = (time: string): Attempt => ({ header: by.header(plain, { time }), time });
  const inSeconds = (seconds: number): Attempt => at(by.timeOf(now + seconds));
  /** Another time than the signed one. */
  const moved = (time: string): Attempt => ({
    header: by.timestamped ? by.value(by.encoded(plain), time) : by.header(plain),
    time,
  });
  const stale = by.timeOf(now - toleranceSeconds - 1);
  const wrong: Attempt = {
    header: by.header(plain, { secret: "wrong", time: stale }),
    time: stale,
  };
  return [
    ["as old as allowed", "current", inSeconds(-toleranceSeconds)],
    ["1 s too old", "stale-timestamp", inSeconds(-toleranceSeconds - 1)],
    // Services count whole seconds.
    ["as old as allowed, received in the middle of a second", "current", late(toleranceMs + 999)],
    ["received 1 s too late", "stale-timestamp", late(toleranceMs + 1_000)],
    ["as far ahead as allowed", "current", inSeconds(ahead)],
    ["1 s too far ahead", "stale-timestamp", inSeconds(ahead + 1)],
    ["received 1 ms too early", "stale-timestamp", late(-ahead * 1_000 - 1)],
    ["the epoch", "stale-timestamp", at(by.timeOf(0))],
    ["time of receipt NaN", "stale-timestamp", late(Number.NaN)],
    ["too old, signed with another secret", "wrong-signature", wrong],
    ...(isSigned
      ? ([
          ["not the signed time", "wrong-signature", moved(by.timeOf(now - 1))],
          ["not the signed time, too old", "wrong-signature", moved(by.timeOf(1))],
        ] as const)
      : []),
    ...malformedTimes(unit).map(([behaviour, time]): Row => [
      behaviour,
      "malformed-signature",
      at(time),
    ]),
    ...(unit === "seconds" ? secondsRows(by, at, moved, isSigned) : []),
    ...(by.timestamped ? itemRows(by) : placeRows(by)),
  ];
}

function malformedTimes(unit: "seconds" | "milliseconds" | "iso8601") {
  const always = [
    ["empty", ""],
    ["not a number", "NaN"],
    ["with a plus", `+${now}`],
    ["with a minus", `-${now}`],
    ["with an exponent", "17637163e2"],
    ["in hex", `0x${now.toString(16)}`],
    ["with a non-ASCII digit", `${now}\u00b2`],
    ["with decimals", `${now}.0`],
    ["100 kB of digits", "9".repeat(100_000)],
  ] as const;
  if (unit === "iso8601") {
    return [
      ...always,
      ["in seconds", String(now)],
      ["without an offset", "2026-11-21T09:12:44"],
      ["a day that there is not", "2026-13-41T09:12:44Z"],
      ["a date alone", "2026-11-21"],
    ] as const;
  }
  const tooLong = "1".repeat(unit === "seconds" ? 13 : 16);
  return [...always, ["too many digits", tooLong], ["a date", "2026-11-21T09:12:44Z"]] as const;
}

function secondsRows(
  by: Signer,
  at: (time: string) => Attempt,
  moved: (time: string) => Attempt,
  isSigned: boolean,
): readonly Row[] {
  return [
    ["twelve digits", "stale-timestamp", at("999999999999")],
    ["leading zeros, signed as sent", "current", at(`00${now}`)],
    ...(isSigned
      ? ([["leading zeros, signed without", "wrong-signature", moved(`00${now}`)]] as const)
      : []),
    ["in milliseconds", "malformed-signature", at(String(now * 1_000))],
    // HTTP removes white space around a whole header, but not around an item.
    ["with a space before it", by.timestamped ? "malformed-signature" : "current", at(` ${now}`)],
  ].filter(([, outcome]) => by.timestamped || outcome !== "current" || !isSigned) as readonly Row[];
}

/** The time in a header of its own. */
function placeRows(by: Signer): readonly Row[] {
  const name = headerIn(oneOrMore(by.scheme.timestamp?.from)[0] ?? "") ?? "";
  return [
    ["none", "missing-timestamp", { time: null }],
    ["under another name", "missing-timestamp", { time: null, signed: { [`${name}-2`]: "1" } }],
    ["sent twice", "malformed-signature", { time: `${by.timeOf(now)}, ${by.timeOf(now)}` }],
  ];
}

/** The time as an item of the signature header. */
function itemRows(by: Signer): readonly Row[] {
  const { timestamp, items } = by.scheme;
  const { item = "" } = timestamp ?? {};
  const { separator = ",", signature = "" } = items ?? {};
  const time = by.timeOf(now);
  const right = by.header(plain);
  const bare = signature + by.encoded(plain);
  const list = (...parts: readonly string[]): Attempt => ({ header: parts.join(separator) });
  const malformed = "malformed-signature";
  const earlier = `${item}${by.timeOf(now - 1)}`;
  return [
    ["none", "missing-timestamp", { header: bare }],
    ["under another name", "missing-timestamp", list(`${item.toUpperCase()}${time}`, bare)],
    ["two, the same", malformed, list(`${item}${time}`, right)],
    ["two, the right one first", malformed, list(right, earlier)],
    ["two, the right one last", malformed, list(earlier, right)],
    ["two, one of them empty", malformed, list(item, right)],
  ];
}
