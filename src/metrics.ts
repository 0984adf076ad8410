import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import Registry from "prom-client/lib/registry.js";

import { httpMetrics } from "./metrics/http.ts";
import { processMetrics } from "./metrics/process.ts";
import type { CommitObserver } from "./storage/storage.ts";
import type { SpanOutcome } from "./tracing/exporter.ts";
import { version } from "./version.ts";

/** What became of a delivery, as counted. */
export const verdicts = [
  "accepted",
  "duplicate",
  "ignored",
  "unreadable",
  "refused",
  "limited",
  "unavailable",
] as const;
export type Verdict = (typeof verdicts)[number];

/** How much of the outbox waits. */
export interface Outbox {
  readonly status: string;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly oldest: number;
}

/** Counters of this process, in the names and units Prometheus recommends. */
export type Metrics = ReturnType<typeof createMetrics>;

/** What metrics are made of. */
interface Sources {
  /** Asked at each scrape, so that the gauges show what the database holds. */
  readonly readOutbox: () => Promise<readonly Outbox[]>;
  readonly now: () => number;
  /** Registered providers: their counters begin at 0, so that silence can be told from absence. */
  readonly providers: readonly string[];
  /** Null where the database is no file. */
  readonly databaseFile: string | null;
}

export function createMetrics({ readOutbox, now, providers, databaseFile }: Sources) {
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
  const commitSeconds = new Histogram({
    name: "skyhook_storage_commit_duration_seconds",
    help: "Time that a commit of the database took, its sync to disk included",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  const commitUnits = new Histogram({
    name: "skyhook_storage_commit_units",
    help: "Units of work that shared one commit",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers,
  });
  const spans = new Counter({
    name: "skyhook_trace_spans_total",
    help: "Spans by outcome: exported, dropped here as the queue was full, rejected by the collector",
    labelNames: ["outcome"],
    registers,
  });
  const build = new Gauge({
    name: "skyhook_build_info",
    help: "1; the labels say which version runs on which runtime",
    labelNames: ["version", "bun_version"],
    registers,
  });
  const http = httpMetrics(registry);
  const ofProcess = processMetrics(registry, databaseFile);
  build.set({ version, bun_version: Bun.version }, 1);
  for (const outcome of ["exported", "dropped", "rejected"]) spans.inc({ outcome }, 0);
  for (const outcome of ["delivered", "failed"]) attempts.inc({ outcome }, 0);

  /** One counter a provider and verdict, so that a delivery hashes no labels. */
  const receiptsOf = new Map<string, Counter.Internal>();
  for (const provider of providers) {
    for (const verdict of verdicts) receiptsFor(provider, verdict).inc(0);
  }

  function receiptsFor(provider: string, verdict: Verdict): Counter.Internal {
    const key = `${provider} ${verdict}`;
    let counter = receiptsOf.get(key);
    if (counter === undefined) {
      counter = receipts.labels({ provider, verdict });
      receiptsOf.set(key, counter);
    }
    return counter;
  }

  /** Without the database there are no figures of it; all others are wanted then more than ever. */
  async function refreshOutbox(): Promise<void> {
    try {
      const outbox = await readOutbox();
      for (const status of ["pending", "retrying", "dead"]) {
        depth.set({ status }, outbox.find((entry) => entry.status === status)?.count ?? 0);
      }
      const waiting = outbox.filter(({ status }) => status !== "dead");
      const oldest = Math.min(...waiting.map((entry) => entry.oldest));
      // A clock that was put back makes what waits look younger than now.
      age.set(waiting.length === 0 ? 0 : Math.max(0, now() - oldest) / 1_000);
    } catch {
      depth.reset();
      age.remove();
    }
  }

  return {
    http,
    received(provider: string, verdict: Verdict): void {
      receiptsFor(provider, verdict).inc();
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
    committed(...[seconds, units]: Parameters<CommitObserver["groupCommitted"]>): void {
      commitSeconds.observe(seconds);
      commitUnits.observe(units);
    },
    spans(outcome: SpanOutcome, count: number): void {
      spans.inc({ outcome }, count);
    },
    /** Begins to watch the event loop. */
    start(): void {
      ofProcess.start();
    },
    stop(): void {
      ofProcess.stop();
    },
    /** Prometheus' text format, version 0.0.4. */
    async scrape(): Promise<string> {
      await refreshOutbox();
      http.refresh();
      await ofProcess.refresh();
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
