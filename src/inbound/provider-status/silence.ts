import type { ActiveHour } from "../model/webhook-counts.sql.ts";

import type { Silence } from "./provider-status.schema.ts";

const hourSeconds = 3_600;
const hourMinutes = 60;
/** Two weeks contain two weekends. */
const windowHours = 14 * 24;
/** The number of active hours that `silence` needs at most. */
export const maxActiveHours = windowHours;
/** With fewer requests the usual interval is unknown. */
const minDeliveries = 10;
const patienceIntervals = 10;

/**
 * Determines whether a provider is silent, from the 14 days before its last request. The usual interval is
 * the median distance between hours with requests, divided by the median number of requests in such an
 * hour. A provider is silent after ten usual intervals, and longer than the longest pause in these days.
 * `hours`: newest first.
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
  if (deliveries < minDeliveries || silentForSeconds === null) {
    return { usualIntervalSeconds: null, silentForSeconds, isSilent: false };
  }
  const stepsInHours = window
    .slice(1)
    .map(({ minute }, index) => ((window[index]?.minute ?? minute) - minute) / hourMinutes);
  const usualStep = median(stepsInHours) ?? 1;
  const usualCount = median(window.map((hour) => hour.deliveries)) ?? 1;
  const usualIntervalSeconds = Math.max(1, Math.round((usualStep * hourSeconds) / usualCount));
  // A pause can last from the start of one active hour to the end of the next.
  const longestPauseSeconds = (Math.max(1, ...stepsInHours) + 1) * hourSeconds;
  const patienceSeconds = Math.max(patienceIntervals * usualIntervalSeconds, longestPauseSeconds);
  return { usualIntervalSeconds, silentForSeconds, isSilent: silentForSeconds > patienceSeconds };
}

/** The median, or undefined for an empty list. */
function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
