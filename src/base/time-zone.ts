// Time zones without ICU, whose data is as old as the runtime. Bundled and system data are read into the same form.

/** The UTC offsets of a zone over time. */
export interface TimeZone {
  /** Seconds since 1970 at which the offset changes, ascending. */
  readonly changes: readonly number[];
  /** In seconds east of UTC. One more than changes: before the first one, then from each on. */
  readonly offsets: readonly number[];
}

const daySeconds = 86_400;
const headerBytes = 44;
/** Rules are expanded for these years. Flights are in 2000 to 2100. */
const [firstYear, lastYear] = [1999, 2101];

/** Reads a TZif file (RFC 9636) of version 2 or later: the changes listed in it, and its footer. Throws an `Error`. */
export function readTzif(bytes: Uint8Array): { readonly zone: TimeZone; readonly footer: string } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < headerBytes || view.getUint32(0) !== 0x54_5a_69_66 || view.getUint8(4) < 0x32)
    throw new Error("not a TZif file of version 2 or later");
  const countsAt = (start: number) => {
    const count = (index: number) => view.getUint32(start + 20 + index * 4);
    return {
      flags: count(0) + count(1),
      leaps: count(2),
      times: count(3),
      types: count(4),
      chars: count(5),
    };
  };
  // The first block has the same data in 32 bits, for old readers.
  const old = countsAt(0);
  const start = headerBytes + old.times * 5 + old.types * 6 + old.chars + old.leaps * 8 + old.flags;
  const { times, types, chars, leaps, flags } = countsAt(start);
  const timesAt = start + headerBytes;
  const typesAt = timesAt + times * 9;
  const offsetOf = (type: number) => view.getInt32(typesAt + type * 6);
  const changes = Array.from({ length: times }, (_, index) => ({
    at: Number(view.getBigInt64(timesAt + index * 8)),
    offset: offsetOf(view.getUint8(timesAt + times * 8 + index)),
  }));
  const end = typesAt + types * 6 + chars + leaps * 12 + flags;
  const footer = new TextDecoder().decode(bytes.subarray(end)).trim();
  return { zone: zoneOf(offsetOf(0), changes), footer };
}

/** The offsets of a TZif file from 1999 on. Throws an `Error`. */
export function readZone(bytes: Uint8Array): TimeZone {
  const { zone, footer } = readTzif(bytes);
  const { changes, offsets } = withFooter(zone, footer);
  const past = changes.filter((at) => at < Date.UTC(firstYear) / 1_000).length;
  return { changes: changes.slice(past), offsets: offsets.slice(past) };
}

/** Returns a zone, after its last listed change, by the rule of its footer. */
export function withFooter({ changes, offsets }: TimeZone, footer: string): TimeZone {
  const rule = readFooter(footer);
  const last = changes.at(-1) ?? Number.NEGATIVE_INFINITY;
  const [first = 0, ...later] = offsets;
  const listed = changes.map((at, index) => ({ at, offset: later[index] ?? first }));
  return zoneOf(first, [...listed, ...rule.filter(({ at }) => at > last)]);
}

interface Change {
  readonly at: number;
  readonly offset: number;
}

/** Leaves out changes of the name or of the flag for daylight saving time alone. */
function zoneOf(first: number, listed: readonly Change[]): TimeZone {
  const kept = listed.filter(
    ({ offset }, index) => offset !== (listed[index - 1]?.offset ?? first),
  );
  return {
    changes: kept.map(({ at }) => at),
    offsets: [first, ...kept.map(({ offset }) => offset)],
  };
}

/** Expands a POSIX TZ string (RFC 9636, section 3.3.1), such as `EST5EDT,M3.2.0,M11.1.0`. */
function readFooter(footer: string): readonly Change[] {
  const name = String.raw`(?:[A-Za-z]+|<[^>]+>)`;
  const time = String.raw`[+-]?\d+(?::\d+){0,2}`;
  const rule = String.raw`,([JM]?[\d.]+)(?:/(${time}))?`;
  const parts = new RegExp(`^${name}(${time})(?:${name}(${time})?${rule}${rule})?$`).exec(footer);
  if (parts === null) throw new Error(`has an unknown rule: ${footer}`);
  const [, standard = "", summer, startDay, startTime = "2", endDay, endTime = "2"] = parts;
  // POSIX counts hours west of Greenwich. A subtraction, because the negation of 0 is -0.
  const winter = 0 - secondsOf(standard);
  if (startDay === undefined || endDay === undefined) return [];
  const saving = summer === undefined ? winter + 3_600 : 0 - secondsOf(summer);
  const years = Array.from({ length: lastYear - firstYear + 1 }, (_, index) => firstYear + index);
  return years
    .flatMap((year) => [
      { at: dayOf(year, startDay) + secondsOf(startTime) - winter, offset: saving },
      { at: dayOf(year, endDay) + secondsOf(endTime) - saving, offset: winter },
    ])
    .toSorted((one, other) => one.at - other.at);
}

function secondsOf(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text
    .split(":")
    .map((part) => Math.abs(Number(part)));
  return (text.startsWith("-") ? -1 : 1) * (hours * 3_600 + minutes * 60 + seconds);
}

/** The start of a day of a rule, as if in UTC: `M3.2.0` (month, week, weekday), `J60` (without 29 February), `59`. */
function dayOf(year: number, text: string): number {
  const numbers = text.replace(/^[JM]/, "").split(".").map(Number);
  const [first = 0, week = 0, weekday = 0] = numbers;
  const day = (month: number, date: number) => Date.UTC(year, month, date) / 1_000;
  if (text.startsWith("M")) {
    const start = new Date(day(first - 1, 1) * 1_000).getUTCDay();
    const days = new Date(day(first, 0) * 1_000).getUTCDate();
    const date = 1 + ((weekday - start + 7) % 7) + (week - 1) * 7;
    return day(first - 1, date > days ? date - 7 : date);
  }
  const isLeap = day(1, 29) !== day(2, 1);
  if (text.startsWith("J")) return day(0, isLeap && first >= 60 ? first + 1 : first);
  return day(0, first + 1);
}

/** The offset from UTC in seconds, at a time in seconds since 1970. */
export function offsetAt({ changes, offsets }: TimeZone, seconds: number): number {
  return offsets[changesUntil(changes, seconds)] ?? 0;
}

/** The number of changes at or before a time. */
function changesUntil(changes: readonly number[], seconds: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((changes[middle] ?? 0) <= seconds) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The first time, in seconds since 1970, at which clocks show this time or later. `wall` is in seconds as if in UTC. Of a time
 * that clocks show twice, that is the first; of one that they skip, the end of the gap.
 */
export function firstAt({ changes, offsets }: TimeZone, wall: number): number {
  let index = changesUntil(changes, wall - 2 * daySeconds);
  for (;;) {
    const begins = changes[index - 1] ?? Number.NEGATIVE_INFINITY;
    const found = Math.max(begins, wall - (offsets[index] ?? 0));
    if (found < (changes[index] ?? Number.POSITIVE_INFINITY)) return found;
    index += 1;
  }
}

const twoDigits = (number: number) => String(number).padStart(2, "0");

/** `-05:00` */
export function offsetText(seconds: number): string {
  const minutes = Math.abs(Math.round(seconds / 60));
  return `${seconds < 0 ? "-" : "+"}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}
