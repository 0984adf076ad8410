import { diag, DiagLogLevel } from "@opentelemetry/api";
import type { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, type SpanProcessor } from "@opentelemetry/sdk-trace";

import { detached } from "./span.ts";
import type { TracingParts } from "./tracing-settings.ts";

interface SpanExport {
  readonly processor: SpanProcessor;
  /** Exports what is left, for `patienceMs` at most; the rest is dropped. */
  stop(patienceMs: number): Promise<void>;
}

/** Spans that wait and spans under way. */
const maxPendingSpans = 2_048;
const maxReasonLength = 200;
/** The exporter's own time-out ends an export first: its error says more. */
const timeoutMarginMs = 1_000;

/**
 * Exports ended spans in batches, in the background. Every span is counted with what became of it, and
 * failures that are alike are logged once. So a collector that is slow, down or wrong costs a bounded
 * amount of memory and nothing else. `timeoutMs`: how long the exporter tries to export one batch.
 */
export function spanExport(
  exporter: OTLPTraceExporter,
  { count, log, timeoutMs }: Pick<TracingParts, "count" | "log"> & { readonly timeoutMs: number },
): SpanExport {
  const takePartialRejection = partialRejections();
  let pending = 0;
  let isStopped = false;
  /** What was logged last. */
  let complaint: string | null = null;

  const batches = new BatchSpanProcessor({
    exporter: {
      export(spans, done) {
        exporter.export(spans, (result) => {
          if (!isStopped) settle(spans.length, result.error);
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: maxPendingSpans,
    exportTimeoutMillis: timeoutMs + timeoutMarginMs,
  });

  function settle(spans: number, error: Error | undefined): void {
    pending -= spans;
    if (error === undefined) {
      const partial = takePartialRejection();
      const rejected = Math.min(partial?.spans ?? 0, spans);
      count("rejected", rejected);
      count("exported", spans - rejected);
      complain(partial?.reason ?? null, "collector rejected some spans");
      return;
    }
    const status = statusOf(error);
    if (status === null) {
      count("dropped", spans);
      complain(error.message, "failed to export traces; their spans are dropped");
    } else {
      count("rejected", spans);
      complain(`HTTP ${status}`, "collector rejected traces");
    }
  }

  function complain(error: string | null, message: string): void {
    if (error === complaint) return;
    complaint = error;
    if (error === null) log.info("exporting traces again");
    else log.warn({ error }, message);
  }

  return {
    processor: {
      onStart() {},
      onEnd(span) {
        if (isStopped || pending >= maxPendingSpans) return count("dropped", 1);
        pending += 1;
        // An export is no part of the request whose span happens to start its timer.
        detached(() => batches.onEnd(span));
      },
      forceFlush: () => batches.forceFlush(),
      shutdown: () => batches.shutdown(),
    },
    async stop(patienceMs) {
      const flushed = batches.shutdown().catch(() => {
        // Each failed export is counted and logged above.
      });
      await Promise.race([flushed, Bun.sleep(patienceMs)]);
      isStopped = true;
      count("dropped", pending);
      pending = 0;
    },
  };
}

/** The status of an answer that says that trying again is useless; null after any other failure. */
function statusOf(error: Error): number | null {
  return "code" in error && typeof error.code === "number" ? error.code : null;
}

interface PartialRejection {
  readonly spans: number;
  readonly reason: string;
}

/**
 * The returned function takes what the collector rejected of the batch just exported (OTLP, "Partial
 * Success"). The exporter reports that to the SDK's diagnostic log only, right before it calls back.
 */
function partialRejections(): () => PartialRejection | null {
  let latest: PartialRejection | null = null;
  const ignore = () => {};
  diag.setLogger(
    {
      error: ignore,
      warn(message, json) {
        if (message.startsWith("Received Partial Success")) latest = partialRejectionOf(json);
      },
      info: ignore,
      debug: ignore,
      verbose: ignore,
    },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return () => {
    const taken = latest;
    latest = null;
    return taken;
  };
}

function partialRejectionOf(json: unknown): PartialRejection | null {
  const { rejectedSpans, errorMessage } = Object(JSON.parse(String(json)));
  const spans = Number(rejectedSpans ?? 0);
  if (!(spans > 0)) return null;
  return { spans, reason: String(errorMessage ?? "").slice(0, maxReasonLength) };
}
