import { isoTime, parseDuration, unitSeconds } from "../../base/times.ts";

/** A duration before now, or an instant, as an instant in ISO 8601. Throws an `Error` that says what to write. */
export function pastTime(text: string): string {
  if (/^\d+[smhd]$/.test(text)) {
    return new Date(Date.now() - parseDuration(text) * 1_000).toISOString();
  }
  const time = isoTime(text);
  if (time !== null) return time.toISOString();
  throw new Error("Write a duration like 2h, or an instant like 2026-11-21T09:00:00Z.");
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
