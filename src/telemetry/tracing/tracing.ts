import type { Metrics } from "../metrics.ts";

import { activeSpan } from "./span.ts";
import { spanErrorOf, type Tracer } from "./tracer.ts";
import type { TracingParts, TracingSettings } from "./tracing-settings.ts";

/**
 * Makes a tracer; null without an OTLP endpoint. OpenTelemetry's SDK is loaded on demand, so that it does not
 * slow a start without tracing.
 */
export async function tracing(
  { otlpEndpoint, ...settings }: TracingSettings,
  parts: TracingParts,
): Promise<Tracer | null> {
  if (otlpEndpoint === null) return null;
  const [{ openTracer }, { OTLPTraceExporter }] = await Promise.all([
    import("./opentelemetry.ts"),
    exporterFor(settings.otlpProtocol, parts),
  ]);
  return openTracer({ otlpEndpoint, ...settings }, OTLPTraceExporter, parts);
}

/** The exporter of a protocol (`OTEL_EXPORTER_OTLP_PROTOCOL`). */
function exporterFor(protocol: string, { log }: TracingParts) {
  if (protocol === "http/protobuf") return import("@opentelemetry/exporter-trace-otlp-proto");
  if (protocol !== "http/json") {
    const setting = `OTEL_EXPORTER_OTLP_PROTOCOL ${protocol} is not supported`;
    log.warn(`${setting}: traces are sent as http/json. Use http/json or http/protobuf.`);
  }
  return import("@opentelemetry/exporter-trace-otlp-http");
}

/** Counts spans by outcome. */
export function spanCounter(metrics: Metrics): TracingParts["count"] {
  const spans = metrics.counter({
    name: "skyhook_trace_spans_total",
    help: "Spans by outcome: exported, dropped, or rejected by the collector",
    labels: ["outcome"],
  });
  for (const outcome of ["exported", "dropped", "rejected"]) spans.inc({ outcome }, 0);
  return (outcome, count) => spans.inc({ outcome }, count);
}

/** Starts a span for a commit, as a child of the active span; null without one. The returned function ends it. */
export function commitSpan(
  tracer: Tracer,
): ((transactions: number, error: unknown) => void) | null {
  if (activeSpan() === undefined) return null;
  const span = tracer.start("storage commit", { attributes: { "db.operation.name": "COMMIT" } });
  return (transactions, error) => {
    span.set({ "skyhook.storage.units": transactions });
    span.end(error === null ? undefined : spanErrorOf(error));
  };
}
