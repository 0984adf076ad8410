import type { Metrics } from "../../telemetry/metrics.ts";
import { type Verdict, verdicts } from "../model/webhook-count.ts";

export type WebhookMetrics = ReturnType<typeof webhookMetrics>;

/** Counts requests. */
export function webhookMetrics(metrics: Metrics) {
  const receipts = metrics.counter({
    name: "skyhook_webhook_receipts_total",
    help: "Webhook deliveries by provider and verdict",
    labels: ["provider", "verdict"],
  });
  const ackSeconds = metrics.histogram({
    name: "skyhook_webhook_ack_seconds",
    help: "Time from the request headers of a delivery to its acknowledgement, including the commit",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  });

  return {
    /** Starts the series of registered providers at 0, so that none is absent before its first request. */
    registered(providers: readonly string[]): void {
      for (const provider of providers) {
        for (const verdict of verdicts) receipts.inc({ provider, verdict }, 0);
      }
    },
    received(provider: string, verdict: Verdict): void {
      receipts.inc({ provider, verdict });
    },
    acknowledged(seconds: number): void {
      ackSeconds.observe(seconds);
    },
  };
}
