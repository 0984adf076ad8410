import type { Metrics } from "../../telemetry/metrics.ts";
import type { Destination } from "../destination.ts";

import type { DestinationLabel } from "./destination-metrics.ts";

export type NotificationMetrics = ReturnType<typeof notificationMetrics>;

/** The undelivered notifications of one status. */
interface Undelivered {
  readonly status: string;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly oldest: number;
}

/**
 * Counts attempts and subscribers, and reads the undelivered notifications from the database at each
 * scrape. `now`: milliseconds since the epoch.
 */
export function notificationMetrics(
  metrics: Metrics,
  readUndelivered: () => Promise<readonly Undelivered[]>,
  now: () => number,
  labelOf: DestinationLabel,
) {
  const attempts = metrics.counter({
    name: "skyhook_notification_attempts_total",
    help: "Delivery attempts by destination and outcome",
    labels: ["destination", "outcome"],
  });
  const durations = metrics.histogram({
    name: "skyhook_notification_attempt_seconds",
    help: "Duration of delivery attempts by destination",
    labels: ["destination"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const subscribers = metrics.gauge({
    name: "skyhook_feed_subscribers",
    help: "Clients that follow the feed",
  });
  const depth = metrics.gauge({
    name: "skyhook_outbox_notifications",
    help: "Undelivered notifications by status",
    labels: ["status"],
  });
  const age = metrics.gauge({
    name: "skyhook_outbox_oldest_seconds",
    help: "Age of the oldest pending or retrying notification",
  });

  metrics.onScrape(async () => {
    try {
      show(await readUndelivered());
    } catch {
      // If the database is down, omits only these metrics, because the others are needed then.
      depth.reset();
      age.remove();
    }
  });

  function show(undelivered: readonly Undelivered[]): void {
    for (const status of ["pending", "retrying", "dead"]) {
      depth.set({ status }, undelivered.find((entry) => entry.status === status)?.count ?? 0);
    }
    const waiting = undelivered.filter(({ status }) => status !== "dead");
    const oldest = Math.min(...waiting.map((entry) => entry.oldest));
    // After the clock was set back, creation times can be in the future.
    age.set(waiting.length === 0 ? 0 : Math.max(0, now() - oldest) / 1_000);
  }

  return {
    attempted(to: Destination, outcome: "delivered" | "failed", seconds: number): void {
      const destination = labelOf(to);
      attempts.inc({ destination, outcome });
      durations.observe({ destination }, seconds);
    },
    subscribers(count: number): void {
      subscribers.set(count);
    },
  };
}
