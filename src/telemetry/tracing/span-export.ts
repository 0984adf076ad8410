import { diag, DiagLogLevel } from "@opentelemetry/api";
import type { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, type SpanProcessor } from "@opentelemetry/sdk-trace";

import { withTimeout } from "../../base/in-time.ts";

import { runDetached } from "./span.ts";
import type { TracingParts } from "./tracing-settings.ts";

interface SpanExport {
  readonly processor: SpanProcessor;
  /** Exports the pending spans. Drops those that are left after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
}

/** The limit for spans that are queued or being exported. */
const maxPendingSpans = 2_048;
const maxReasonLength = 200;
/** Added to the batch processor's timeout, so that the exporter's own, more specific timeout comes first. */
const timeoutMarginMs = 1_000;

/**
 * Exports ended spans in batches in the background. Counts each span by outcome and logs repeated errors
 * once. A slow, unavailable or failing collector costs nothing but a bounded amount of memory. `timeoutMs` is
 * the exporter's time limit for one batch, retries included.
 */
export function spanExport(
  exporter: OTLPTraceExporter,
  { count, log, timeoutMs }: Pick<TracingParts, "count" | "log"> & { readonly timeoutMs: number },
): SpanExport {
  const takePartialRejection = partialRejections();
  let pending = 0;
  let isStopped = false;
  /** The error that was logged last; null after a successful export. */
  let lastError: string | null = null;

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
      logChange(partial?.reason ?? null, "collector rejected some spans");
      return;
    }
    const status = statusOf(error);
    if (status === null) {
      count("dropped", spans);
      logChange(error.message, "failed to export traces; their spans are dropped");
    } else {
      count("rejected", spans);
      logChange(`HTTP ${status}`, "collector rejected traces");
    }
  }

  function logChange(error: string | null, message: string): void {
    if (error === lastError) return;
    lastError = error;
    if (error === null) log.info("resumed exporting traces");
    else log.warn({ error }, message);
  }

  return {
    processor: {
      onStart() {},
      onEnd(span) {
        if (isStopped || pending >= maxPendingSpans) return count("dropped", 1);
        pending += 1;
        // An export is not part of the request whose span starts its timer.
        runDetached(() => batches.onEnd(span));
      },
      forceFlush: () => batches.forceFlush(),
      shutdown: () => batches.shutdown(),
    },
    async stop(stopTimeoutMs) {
      const flushed = batches.shutdown().catch(() => {
        // `settle` counts and logs each failed export.
      });
      await withTimeout(flushed, stopTimeoutMs, () => {});
      isStopped = true;
      count("dropped", pending);
      pending = 0;
    },
  };
}

/** The HTTP status of a response that must not be retried; null after any other error. */
function statusOf(error: Error): number | null {
  return "code" in error && typeof error.code === "number" ? error.code : null;
}

interface PartialRejection {
  readonly spans: number;
  readonly reason: string;
}

/**
 * Returns a function that reads and clears the latest partial rejection of a batch (OTLP, "Partial Success").
 * The exporter reports it only to the SDK's diagnostic log, right before it calls back.
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
