import type { Metrics } from "./metrics.ts";

/** `dropped` returns the number of log lines dropped so far. */
export function logMetrics(metrics: Metrics, dropped: () => number): void {
  const lines = metrics.counter({
    name: "skyhook_log_dropped_total",
    help: "Log lines dropped because standard output was not writable: the disk is full or the reader stopped",
  });
  metrics.onScrape(() => {
    lines.reset();
    lines.inc(dropped());
  });
}
