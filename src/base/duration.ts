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
