/**
 * ISO 8601 in the extended or the basic format, with seconds and their fraction optional and an offset in hours or minutes.
 * Like RFC 3339 (section 5.6), `t`, `z` and a space instead of `T` are accepted: PostgreSQL and pandas write
 * `2026-12-24 18:25:00-05`. Ruby writes ` +0100` and ` UTC`, which GitLab sends; RFC 9110 (section 5.6.7) has ` GMT`.
 */
const isoPattern =
  /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?|\d{8}[T ]\d{4}(?:\d\d(?:[.,]\d{1,9})?)?)(?: ?([+-]\d\d(?::?\d\d)?)|Z| UTC| GMT)$/i;

/**
 * Parses a time with an offset from UTC: without one, it is ambiguous. Null for another format and for a time or an offset that
 * does not exist. Digits beyond milliseconds are dropped.
 */
export function isoTime(text: string): Date | null {
  const [, local, offset = "Z"] = isoPattern.exec(text) ?? [];
  if (local === undefined) return null;
  try {
    return new Date(Temporal.Instant.from(`${local}${offset}`).epochMilliseconds);
  } catch {
    return null;
  }
}

/** Parses YYYY-MM-DD. Null for other formats and for a date that does not exist. */
export function calendarDate(text: string): Temporal.PlainDate | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  try {
    return Temporal.PlainDate.from(text, { overflow: "reject" });
  } catch {
    return null;
  }
}

export const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** A token with a longer lifetime would be a password. */
const longestSeconds = 365 * unitSeconds.d;

/** Seconds in a text like `30s`, `15m`, `1h` or `7d`. Throws an `Error` that says what to write. */
export function parseDuration(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,9})([smhd])$/.exec(text.trim()) ?? [];
  // Guarantee: the pattern matches only keys of unitSeconds; "" means no match.
  const factor = unit === "" ? 0 : unitSeconds[unit as keyof typeof unitSeconds];
  const seconds = Number(digits) * factor;
  if (seconds === 0) throw new Error("Write a number and a unit: 30s, 15m, 1h or 7d.");
  if (seconds > longestSeconds) throw new Error("The maximum is 365d.");
  return seconds;
}

/** The date of C's `asctime`, in UTC, which names no zone. */
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** Parses `Retry-After`, seconds or an HTTP date of any format (RFC 9110 sections 10.2.3 and 5.6.7), to milliseconds. Null if invalid. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  // `Date.parse` also accepts "1.5". Other HTTP dates end with GMT.
  const date = asctime.test(header) ? `${header} GMT` : header;
  const at = date.endsWith(" GMT") ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
