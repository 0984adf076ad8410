import type { Metrics } from "../metrics.ts";

import { activeSpan } from "./span.ts";
import { faultOf, type Tracer } from "./tracer.ts";
import type { TracingParts, TracingSettings } from "./tracing-settings.ts";

/**
 * The tracer that the settings ask for; null where they name no collector. OpenTelemetry's SDK is loaded
 * only when it is needed: a start without traces does not pay for it.
 */
export async function tracing(
  { otlpEndpoint, ...settings }: TracingSettings,
  parts: TracingParts,
): Promise<Tracer | null> {
  if (otlpEndpoint === null) return null;
  const { openTracer } = await import("./opentelemetry.ts");
  return openTracer({ otlpEndpoint, ...settings }, parts);
}

/** Counts spans by what became of them. */
export function spanCounter(metrics: Metrics): TracingParts["count"] {
  const spans = metrics.counter({
    name: "skyhook_trace_spans_total",
    help: "Spans by outcome: exported, dropped as the queue was full, rejected by the collector",
    labels: ["outcome"],
  });
  for (const outcome of ["exported", "dropped", "rejected"]) spans.inc({ outcome }, 0);
  return (outcome, count) => spans.inc({ outcome }, count);
}

/** Starts the span of a commit, in the trace of whoever waits for it; the result ends it. */
export function commitSpan(tracer: Tracer): ((units: number, error: unknown) => void) | null {
  if (activeSpan() === undefined) return null;
  const span = tracer.start("storage commit", { attributes: { "db.operation.name": "COMMIT" } });
  return (units, error) => {
    span.set({ "skyhook.storage.units": units });
    span.end(error === null ? undefined : faultOf(error));
  };
}
