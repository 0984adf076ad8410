import { type Metrics, setOrRemove } from "../../telemetry/metrics.ts";

import type { Weeks } from "./weeks.ts";

/** Shows the weeks of events, which PostgreSQL stores in a partition each. */
export function weekMetrics(metrics: Metrics, read: () => Promise<Weeks | null>): void {
  const count = metrics.gauge({
    name: "skyhook_event_weeks",
    help: "Weekly partitions of events, with those made ahead, on PostgreSQL",
  });
  const oldest = metrics.gauge({
    name: "skyhook_event_weeks_oldest_timestamp_seconds",
    help: "Start of the oldest weekly partition of events",
  });
  const last = metrics.gauge({
    name: "skyhook_retention_last_week_timestamp_seconds",
    help: "When retention last deleted a week of events",
  });
  const next = metrics.gauge({
    name: "skyhook_retention_next_week_timestamp_seconds",
    help: "When retention is due to delete the next week of events",
  });
  const kept = metrics.gauge({
    name: "skyhook_retention_kept_events",
    help: "Events of the last deleted week that were kept, because they are undelivered or needed",
  });
  metrics.onScrape(async () => {
    // If the database is down, omits only these metrics.
    const weeks = await read().catch(() => null);
    const seconds = (time: Date | undefined) => time && time.getTime() / 1_000;
    setOrRemove(count, weeks?.count);
    setOrRemove(oldest, seconds(weeks?.oldest));
    setOrRemove(last, seconds(weeks?.last?.at));
    setOrRemove(next, seconds(weeks?.nextAt));
    setOrRemove(kept, weeks?.last?.kept);
  });
}
