const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

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

/** A duration before now, or an instant, as an instant in ISO 8601. Throws an `Error` that says what to write. */
export function pastTime(text: string): string {
  if (/^\d+[smhd]$/.test(text)) {
    return new Date(Date.now() - parseDuration(text) * 1_000).toISOString();
  }
  try {
    return Temporal.Instant.from(text).toString();
  } catch {
    throw new Error("Write a duration like 2h, or an instant like 2026-11-21T09:00:00Z.");
  }
}

/** A rough age for people. `ageMs`: milliseconds since then. */
export function ago(ageMs: number): string {
  const seconds = Math.floor(ageMs / 1_000);
  if (seconds < 5) return "just now";
  if (seconds < 2 * unitSeconds.m) return `${seconds} s ago`;
  if (seconds < 2 * unitSeconds.h) return `${Math.floor(seconds / unitSeconds.m)} min ago`;
  if (seconds < 2 * unitSeconds.d) return `${Math.floor(seconds / unitSeconds.h)} h ago`;
  return `${Math.floor(seconds / unitSeconds.d)} days ago`;
}
