// A project that imports our types does not find the declarations beside them otherwise: no import can
// name a file of declarations only.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./prom-client.d.ts" />
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Registry from "prom-client/lib/registry.js";

import { httpMetrics } from "./http-metrics.ts";
import { type Outbox, outboxMetrics } from "./outbox-metrics.ts";
import { processMetrics } from "./process-metrics.ts";
import { type Count, counterSeries, histogramSeries } from "./series.ts";
import type { Verdict } from "../statistics/delivery-count.ts";
import type { SpanOutcome } from "./tracing/exporter.ts";
import { version } from "../version.ts";

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
  /** How many lines of the log were dropped so far. */
  readonly droppedLogLines: () => number;
}

export function createMetrics({
  readOutbox,
  now,
  providers,
  databaseFile,
  droppedLogLines,
}: Sources) {
  const registry = new Registry();
  const registers = [registry];
  const webhooks = webhookMetrics(registry, providers);
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
  const spans = new Counter({
    name: "skyhook_trace_spans_total",
    help: "Spans by outcome: exported, dropped as the queue was full, rejected by the collector",
    labelNames: ["outcome"],
    registers,
  });
  const logDropped = new Counter({
    name: "skyhook_log_dropped_total",
    help: "Log lines dropped because standard output took none: a full disk, or a reader that stopped",
    registers,
  });
  const build = new Gauge({
    name: "skyhook_build_info",
    help: "1; the labels say which version runs on which runtime",
    labelNames: ["version", "bun_version"],
    registers,
  });
  const outbox = outboxMetrics(registry, readOutbox, now);
  const storage = storageMetrics(registry);
  const http = httpMetrics(registry);
  const ofProcess = processMetrics(registry, databaseFile);
  build.set({ version, bun_version: Bun.version }, 1);
  for (const outcome of ["exported", "dropped", "rejected"]) spans.inc({ outcome }, 0);
  for (const outcome of ["delivered", "failed"]) attempts.inc({ outcome }, 0);

  return {
    http,
    ...webhooks,
    ...storage,
    attempted(outcome: "delivered" | "failed"): void {
      attempts.inc({ outcome });
    },
    subscribers(count: number): void {
      subscribers.set(count);
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
      await outbox.refresh();
      await ofProcess.refresh();
      http.refresh();
      logDropped.reset();
      logDropped.inc(droppedLogLines());
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

function webhookMetrics(registry: Registry, providers: readonly string[]) {
  const receipts = counterSeries(registry, {
    name: "skyhook_webhook_receipts_total",
    help: "Webhook deliveries by provider and verdict",
  });
  const ackSeconds = histogramSeries(
    registry,
    {
      name: "skyhook_webhook_ack_seconds",
      help: "Time from the head of a delivery to its acknowledgement, commit included",
    },
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  )({});
  const byProvider = new Map<string, Record<Verdict, Count>>();

  function receiptsOf(provider: string): Record<Verdict, Count> {
    let found = byProvider.get(provider);
    if (found === undefined) {
      const count = (verdict: Verdict) => receipts({ provider, verdict });
      found = {
        accepted: count("accepted"),
        duplicate: count("duplicate"),
        ignored: count("ignored"),
        unreadable: count("unreadable"),
        refused: count("refused"),
        limited: count("limited"),
        unavailable: count("unavailable"),
      };
      byProvider.set(provider, found);
    }
    return found;
  }
  for (const provider of providers) receiptsOf(provider);

  return {
    received(provider: string, verdict: Verdict): void {
      receiptsOf(provider)[verdict].inc();
    },
    acknowledged(seconds: number): void {
      ackSeconds.observe(seconds);
    },
  };
}

function storageMetrics(registry: Registry) {
  const seconds = histogramSeries(
    registry,
    {
      name: "skyhook_storage_commit_duration_seconds",
      help: "Time that a commit of the database took, its sync to disk included",
    },
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  )({});
  const units = histogramSeries(
    registry,
    { name: "skyhook_storage_commit_units", help: "Units of work that shared one commit" },
    [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  )({});
  return {
    committed(elapsedSeconds: number, unitsInGroup: number): void {
      seconds.observe(elapsedSeconds);
      units.observe(unitsInGroup);
    },
  };
}
