import type { ActiveHour } from "./statistics.sql.ts";

/** Whether a provider has fallen silent. */
export interface Silence {
  /** How often deliveries usually come; null where too few came to say. */
  readonly usualIntervalSeconds: number | null;
  /** Since the last delivery that verified; null when there never was one. */
  readonly silentForSeconds: number | null;
  /** Longer than this provider is ever silent. */
  readonly isSilent: boolean;
}

const hourSeconds = 3_600;
const hourMinutes = 60;
/** A fortnight holds two weekends. */
const windowHours = 14 * 24;
/** Hours to read for `silence`: more never count. */
export const hoursLookedAt = windowHours;
/** Fewer deliveries say nothing about a habit. */
const leastDeliveries = 10;
const patienceIntervals = 10;

/**
 * The rule, for the 14 days before the last delivery. Usual interval: the median step from one hour with
 * deliveries to the next, divided by the median of how many came in such an hour. Silent: nothing for ten
 * usual intervals, and for longer than the longest pause of these days. `hours`: newest first.
 */
export function silence(
  hours: readonly ActiveHour[],
  lastVerifiedMs: number | null,
  nowMs: number,
): Silence {
  const silentForSeconds =
    lastVerifiedMs === null ? null : Math.max(0, Math.floor((nowMs - lastVerifiedMs) / 1_000));
  const newest = hours[0]?.minute ?? 0;
  const window = hours.filter(({ minute }) => newest - minute < windowHours * hourMinutes);
  const deliveries = window.reduce((sum, hour) => sum + hour.deliveries, 0);
  if (deliveries < leastDeliveries || silentForSeconds === null) {
    return { usualIntervalSeconds: null, silentForSeconds, isSilent: false };
  }
  const stepsInHours = window
    .slice(1)
    .map(({ minute }, index) => ((window[index]?.minute ?? minute) - minute) / hourMinutes);
  const usualStep = median(stepsInHours) ?? 1;
  const usualCount = median(window.map((hour) => hour.deliveries)) ?? 1;
  const usualIntervalSeconds = Math.max(1, Math.round((usualStep * hourSeconds) / usualCount));
  // From the start of one hour to the end of the next active one: a pause may be that long.
  const longestPauseSeconds = (Math.max(1, ...stepsInHours) + 1) * hourSeconds;
  const patienceSeconds = Math.max(patienceIntervals * usualIntervalSeconds, longestPauseSeconds);
  return { usualIntervalSeconds, silentForSeconds, isSilent: silentForSeconds > patienceSeconds };
}

/** The middle one, or the mean of the two; undefined of nothing. */
function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
