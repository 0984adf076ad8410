import type { Metrics } from "../../telemetry/metrics.ts";
import type { Backlog } from "../model/backlog.ts";
import type { Destination } from "../model/destination.ts";

import type { DestinationLabel } from "./destination-metrics.ts";

export type NotificationMetrics = ReturnType<typeof notificationMetrics>;

/**
 * Counts attempts and subscribers, and reads the undelivered notifications from the database at each scrape.
 */
export function notificationMetrics(
  metrics: Metrics,
  readBacklog: () => Promise<Backlog>,
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
      show(await readBacklog());
    } catch {
      // If the database is down, omits only these metrics, because the others are needed then.
      depth.reset();
      age.remove();
    }
  });

  function show(backlog: Backlog): void {
    for (const status of ["pending", "retrying", "dead"] as const) {
      depth.set({ status }, backlog[status]);
    }
    age.set((backlog.oldestMs ?? 0) / 1_000);
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
