/**
 * ISO 8601 in the extended or the basic format, with seconds and their fraction optional and an offset in hours or minutes.
 * Like RFC 3339 (section 5.6), `t`, `z` and a space instead of `T` are accepted: PostgreSQL and pandas write
 * `2026-12-24 18:25:00-05`. Ruby writes ` +0100` and ` UTC`, which GitLab sends; RFC 9110 (section 5.6.7) has ` GMT`.
 */
const pattern =
  /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?|\d{8}[T ]\d{4}(?:\d\d(?:[.,]\d{1,9})?)?)(?: ?([+-]\d\d(?::?\d\d)?)|Z| UTC| GMT)$/i;

/**
 * Parses a time with an offset from UTC: without one, it is ambiguous. Null for another format and for a time or an offset that
 * does not exist. Digits beyond milliseconds are dropped.
 */
export function isoTime(text: string): Date | null {
  const [, local, offset = "Z"] = pattern.exec(text) ?? [];
  if (local === undefined) return null;
  try {
    return new Date(Temporal.Instant.from(`${local}${offset}`).epochMilliseconds);
  } catch {
    return null;
  }
}
