import type { Context } from "../../base/context.ts";
import { timeOfPosition } from "../../base/ids.ts";
import type { Storage } from "../../db/storage.ts";
import { percentile } from "../../outbound/destinations/destination-health.ts";
import type { Destinations } from "../../outbound/destinations/destinations.ts";

import { failuresIn, successesIn } from "./destination-latency.sql.ts";
import type { Span } from "./span.ts";
import type { DestinationLatency, LatencyStep } from "./statistics.schema.ts";

/** Throws as `Destinations.read` for the caller's rights. */
export type ReadLatency = (ctx: Context, id: string, span: Span) => Promise<DestinationLatency>;

/** The attempts read per step. Enough for a 95th percentile; more would slow down the database. */
const sampledAttempts = 100;

interface Sampled {
  readonly notification: number;
  readonly startedAt: Date | null;
  readonly durationMs: number | null;
  readonly delivered: boolean;
}

export function destinationLatency(
  storage: Storage,
  destinations: Pick<Destinations, "read">,
): ReadLatency {
  return async (ctx, id, { fromMs, toMs, stepSeconds }) => {
    const { id: destinationId } = await destinations.read(ctx, id);
    const stepMs = stepSeconds * 1_000;
    const starts = Array.from(
      { length: (toMs - fromMs) / stepMs },
      (_, index) => fromMs + index * stepMs,
    );
    const steps = await Promise.all(
      starts.map(async (start) => {
        const [from, to] = [new Date(start), new Date(start + stepMs)];
        const interval = { destinationId, from, to, limit: sampledAttempts };
        const [succeeded, failed] = await Promise.all([
          storage.all(successesIn, interval),
          storage.all(failuresIn, interval),
        ]);
        return latencyOf([
          ...succeeded.map((one) => ({ ...one, delivered: true })),
          ...failed.map((one) => ({ ...one, delivered: false })),
        ]);
      }),
    );
    return { from: new Date(fromMs), to: new Date(toMs), stepSeconds, steps };
  };
}

/** The newest of these attempts. */
function latencyOf(all: readonly Sampled[]): LatencyStep {
  const sampled = all
    .toSorted((one, other) => Number(other.startedAt) - Number(one.startedAt))
    .slice(0, sampledAttempts);
  const delivered = sampled.filter((attempt) => attempt.delivered);
  const durations = sorted(sampled.map(({ durationMs }) => durationMs ?? 0));
  const sinceReceipt = sorted(delivered.map(sinceReceiptMs));
  return {
    attempts: sampled.length,
    failed: sampled.length - delivered.length,
    p50Ms: percentile(durations, 0.5),
    p95Ms: percentile(durations, 0.95),
    p50SinceReceiptMs: percentile(sinceReceipt, 0.5),
    p95SinceReceiptMs: percentile(sinceReceipt, 0.95),
  };
}

/** The position of a notification has the time of its creation, so no other table is read. */
function sinceReceiptMs({ notification, startedAt, durationMs }: Sampled): number {
  // After the clock was set back, an attempt can precede the notification.
  return Math.max(
    0,
    Number(startedAt) + (durationMs ?? 0) - timeOfPosition(notification).getTime(),
  );
}

function sorted(values: readonly number[]): readonly number[] {
  return values.toSorted((one, other) => one - other);
}
