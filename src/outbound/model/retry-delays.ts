import { parseDuration } from "../../base/times.ts";

const maxDelays = 20;
const longestDelaySeconds = 24 * 3_600;

/** Unless the destination says otherwise. If the last retry fails, the notification is dead. */
export const usualRetryDelays = "5s 30s 2m 10m 1h 6h";

/** The delay before each retry, in milliseconds. Throws an `Error` that says what to write. `text`: null for the usual ones. */
export function delaysIn(text: string | null): readonly number[] {
  const delays = (text ?? usualRetryDelays).trim().split(/[\s,]+/);
  if (delays.length > maxDelays) throw new Error(`Write at most ${maxDelays} delays`);
  return delays.map((delay) => {
    const seconds = parseDuration(delay);
    if (seconds > longestDelaySeconds) throw new Error("No delay may be longer than 24h");
    return seconds * 1_000;
  });
}

/** The longest delay that the gateway's `Retry-After` can cause. No delay of a schedule is longer. */
export const longestRetryAfterMs = longestDelaySeconds * 1_000;

/**
 * Milliseconds until the next attempt, or null if none is left. `attempts`: attempts made so far.
 * Adds up to 10 % of jitter, so that a recovering gateway does not get all retries at once. A longer
 * `Retry-After` takes precedence (RFC 9110 section 10.2.3), capped at 24 h. `random` is in [0, 1).
 */
export function nextRetryMs(
  delaysMs: readonly number[],
  attempts: number,
  retryAfterMs: number | null,
  random: number,
): number | null {
  const delayMs = delaysMs[attempts - 1];
  if (delayMs === undefined) return null;
  const jitteredMs = Math.round(delayMs * (1 + random / 10));
  return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, longestRetryAfterMs));
}
