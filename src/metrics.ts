// A project that imports our types does not find the declarations beside them otherwise: no import can
// name a file of declarations only.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./prom-client.d.ts" />
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import Registry from "prom-client/lib/registry.js";

import type { Verdict } from "./statistics/delivery-count.ts";

/** How much of the outbox waits. */
export interface Outbox {
  readonly status: string;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly oldest: number;
}

/** Counters of this process, in the names and units Prometheus recommends. */
export type Metrics = ReturnType<typeof createMetrics>;

/** `readOutbox` is asked at each scrape, so that the gauges show what the database holds. */
export function createMetrics(readOutbox: () => Promise<readonly Outbox[]>, now: () => number) {
  const registry = new Registry();
  const registers = [registry];
  const receipts = new Counter({
    name: "skyhook_webhook_receipts_total",
    help: "Webhook deliveries by provider and verdict",
    labelNames: ["provider", "verdict"],
    registers,
  });
  const ackSeconds = new Histogram({
    name: "skyhook_webhook_ack_seconds",
    help: "Time from the head of a delivery to its acknowledgement, commit included",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  const attempts = new Counter({
    name: "skyhook_notification_attempts_total",
    help: "Delivery attempts to the operator gateway by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const subscribers = new Gauge({
    name: "skyhook_feed_subscribers",
    help: "Clients that follow the feed",
    registers,
  });
  const depth = new Gauge({
    name: "skyhook_outbox_notifications",
    help: "Notifications that are not delivered, by status",
    labelNames: ["status"],
    registers,
  });
  const age = new Gauge({
    name: "skyhook_outbox_oldest_seconds",
    help: "Age of the oldest notification that still waits for delivery",
    registers,
  });
  const memory = new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes",
    registers,
  });

  /** One counter a provider and verdict, so that a delivery hashes no labels. */
  const receiptsOf = new Map<string, Counter.Internal>();

  return {
    received(provider: string, verdict: Verdict): void {
      const key = `${provider} ${verdict}`;
      let counter = receiptsOf.get(key);
      if (counter === undefined) {
        counter = receipts.labels({ provider, verdict });
        receiptsOf.set(key, counter);
      }
      counter.inc();
    },
    acknowledged(seconds: number): void {
      ackSeconds.observe(seconds);
    },
    attempted(outcome: "delivered" | "failed"): void {
      attempts.inc({ outcome });
    },
    subscribers(count: number): void {
      subscribers.set(count);
    },
    /** Prometheus' text format, version 0.0.4. */
    async scrape(): Promise<string> {
      const outbox = await readOutbox();
      const waiting = outbox.filter(({ status }) => status !== "dead");
      for (const status of ["pending", "retrying", "dead"]) {
        depth.set({ status }, outbox.find((entry) => entry.status === status)?.count ?? 0);
      }
      const oldest = Math.min(...waiting.map((entry) => entry.oldest));
      // A clock that was put back makes what waits look younger than now.
      age.set(waiting.length === 0 ? 0 : Math.max(0, now() - oldest) / 1_000);
      memory.set(process.memoryUsage.rss());
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
