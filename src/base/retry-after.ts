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
