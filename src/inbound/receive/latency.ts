import { type Static, Type } from "@sinclair/typebox";

import type { Clock } from "../../base/clock.ts";
import { count, nullable, resource } from "../../web/schema.ts";
import { minuteMs, minuteOf } from "../model/webhook-count.ts";

const milliseconds = (description: string) =>
  nullable(Type.Number({ minimum: 0, description, examples: [1.4] }));

export const acknowledgementsSchema = resource(
  "Acknowledgements",
  "How long this process took to acknowledge deliveries, including the commit.",
  {
    windowSeconds: count("The period that the numbers cover.", 300),
    count: count("Acknowledgements in that time.", 812),
    p50Ms: milliseconds("50 % took no longer. Accurate to 5 %."),
    p95Ms: milliseconds("95 % took no longer."),
    p99Ms: milliseconds("99 % took no longer."),
  },
);

export interface Acknowledgements extends Static<typeof acknowledgementsSchema> {}

export interface Latency {
  observe(ms: number): void;
  read(): Acknowledgements;
}

const windowMinutes = 5;
/** Each bucket is 10 % wider than the one before, so that quantiles are accurate to 5 %. */
const growth = 1.1;
const leastMs = 0.01;
/** The last bucket ends beyond a minute, the longest duration of a request. */
const bucketCount = 170;

/** Keeps one histogram per minute, for this process. Uses bounded memory and one increment per observation. */
export function latency(clock: Clock): Latency {
  const minutes = new Map<number, Uint32Array>();

  function forgetBefore(minute: number): void {
    for (const key of minutes.keys()) if (key < minute) minutes.delete(key);
  }

  return {
    observe(ms) {
      const minute = minuteOf(clock.now());
      let buckets = minutes.get(minute);
      if (buckets === undefined) {
        forgetBefore(minute - windowMinutes);
        buckets = new Uint32Array(bucketCount);
        minutes.set(minute, buckets);
      }
      const bucket = bucketOf(ms);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    },
    read() {
      forgetBefore(minuteOf(clock.now()) - windowMinutes);
      const sums = Array.from({ length: bucketCount }, (_, bucket) =>
        [...minutes.values()].reduce((sum, buckets) => sum + (buckets[bucket] ?? 0), 0),
      );
      const count = sums.reduce((sum, each) => sum + each, 0);
      const quantile = (share: number) => quantileOf(sums, Math.ceil(count * share));
      return {
        windowSeconds: (windowMinutes * minuteMs) / 1_000,
        count,
        p50Ms: quantile(0.5),
        p95Ms: quantile(0.95),
        p99Ms: quantile(0.99),
      };
    },
  };
}

function bucketOf(ms: number): number {
  const bucket = Math.ceil(Math.log(Math.max(ms, leastMs) / leastMs) / Math.log(growth));
  return Math.min(bucket, bucketCount - 1);
}

/** The middle of the bucket with the `rank`-th smallest value, or null if `rank` is 0. */
function quantileOf(sums: readonly number[], rank: number): number | null {
  if (rank === 0) return null;
  let seen = 0;
  const bucket = sums.findIndex((sum) => (seen += sum) >= rank);
  const middleMs = leastMs * growth ** (bucket - 0.5);
  return Number(middleMs.toPrecision(3));
}
