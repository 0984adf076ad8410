/** Parses `Retry-After`, seconds or an HTTP date (RFC 9110 section 10.2.3), to milliseconds. Null if invalid. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  // `Date.parse` also accepts "1.5". HTTP dates end with GMT.
  const at = header.endsWith(" GMT") ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
