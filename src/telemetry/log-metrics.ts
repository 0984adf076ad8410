import type { Metrics } from "./metrics.ts";

/** `dropped`: how many lines of the log were dropped so far. */
export function logMetrics(metrics: Metrics, dropped: () => number): void {
  const lines = metrics.counter({
    name: "skyhook_log_dropped_total",
    help: "Log lines dropped because standard output took none: a full disk, or a reader that stopped",
  });
  metrics.onScrape(() => {
    lines.reset();
    lines.inc(dropped());
  });
}
