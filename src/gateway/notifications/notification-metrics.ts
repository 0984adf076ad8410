import type { Metrics } from "../../telemetry/metrics.ts";

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
) {
  const attempts = metrics.counter({
    name: "skyhook_notification_attempts_total",
    help: "Delivery attempts to the operator gateway by outcome",
    labels: ["outcome"],
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

  for (const outcome of ["delivered", "failed"]) attempts.inc({ outcome }, 0);
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
    attempted(outcome: "delivered" | "failed"): void {
      attempts.inc({ outcome });
    },
    subscribers(count: number): void {
      subscribers.set(count);
    },
  };
}
