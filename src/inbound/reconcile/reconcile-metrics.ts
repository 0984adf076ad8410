import type { Metrics } from "../../telemetry/metrics.ts";
import type { Reconciliation } from "../model/reconciliation.ts";

/**
 * `complete`: everything that the log has is stored. `paused`: the API's rate limit is reached. `busy`:
 * another process reads the log. `stopped`: by the signal.
 */
const runStatuses = ["complete", "failed", "paused", "busy", "stopped"] as const;
export type RunStatus = (typeof runStatuses)[number];

export type ReconcileMetrics = ReturnType<typeof reconcileMetrics>;

/**
 * Counts runs of `providers`, and reads their last results from the database at each scrape, so that commands
 * count too.
 */
export function reconcileMetrics(
  metrics: Metrics,
  providers: readonly string[],
  readAll: () => Promise<readonly Reconciliation[]>,
) {
  const runs = metrics.counter({
    name: "skyhook_reconcile_runs_total",
    help: "Comparisons of a provider's log with the stored events by result",
    labels: ["provider", "result"],
  });
  const success = metrics.gauge({
    name: "skyhook_reconcile_last_success_timestamp_seconds",
    help: "When a provider's log was last compared completely",
    labels: ["provider"],
  });
  const failing = metrics.gauge({
    name: "skyhook_reconcile_failing",
    help: "1 if the last comparison of a provider's log failed, otherwise 0",
    labels: ["provider"],
  });

  for (const provider of providers) {
    for (const result of runStatuses) runs.inc({ provider, result }, 0);
  }
  metrics.onScrape(async () => {
    try {
      const rows = await readAll();
      for (const provider of providers) {
        const row = rows.find((one) => one.provider === provider);
        failing.set({ provider }, row?.error ? 1 : 0);
        success.set({ provider }, (row?.succeededAt?.getTime() ?? 0) / 1_000);
      }
    } catch {
      // If the database is down, omits only these metrics.
      success.reset();
      failing.reset();
    }
  });

  return {
    ran(provider: string, result: RunStatus): void {
      runs.inc({ provider, result });
    },
  };
}
