import type { Config } from "../../config.ts";
import type { Log } from "../../log.ts";
import { version } from "../../version.ts";

import type { Metrics } from "../metrics.ts";

import { spanExporter, type SpanOutcome } from "./exporter.ts";
import { otlpRequest } from "./otlp.ts";
import { samplerOf } from "./sampler.ts";
import { activeSpan } from "./span.ts";
import { createTracer, faultOf, type Tracer } from "./tracer.ts";

interface Parts {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly count: (outcome: SpanOutcome, spans: number) => void;
}

/** The tracer that the configuration asks for; null where it names no collector. */
export function tracing(config: Config, { log, now, count }: Parts): Tracer | null {
  const { otlpEndpoint, otlpHeaders, otlpTimeoutMs, otelSampler, otelSamplerRatio } = config;
  if (otlpEndpoint === null) return null;
  const resource = {
    "service.version": version,
    "telemetry.sdk.name": "skyhook",
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.version": version,
    "process.runtime.name": "bun",
    "process.runtime.version": Bun.version,
    "service.instance.id": crypto.randomUUID(),
    ...config.otelResourceAttributes,
    "service.name": config.otelServiceName,
  };
  const sink = spanExporter({
    url: `${otlpEndpoint.replace(/\/+$/, "")}/v1/traces`,
    headers: otlpHeaders ?? {},
    timeoutMs: otlpTimeoutMs,
    encode: (spans) => otlpRequest(resource, { name: "skyhook", version }, spans),
    count,
    log,
  });
  return createTracer(sink, samplerOf(otelSampler, otelSamplerRatio), now);
}

/** Counts spans by what became of them. */
export function spanCounter(metrics: Metrics): (outcome: SpanOutcome, spans: number) => void {
  const counter = metrics.counter({
    name: "skyhook_trace_spans_total",
    help: "Spans by outcome: exported, dropped as the queue was full, rejected by the collector",
    labels: ["outcome"],
  });
  for (const outcome of ["exported", "dropped", "rejected"]) counter.inc({ outcome }, 0);
  return (outcome, spans) => counter.inc({ outcome }, spans);
}

/** What a commit's observer makes of units: a span each, in the trace of whoever handed them in. */
export function commitSpan(tracer: Tracer): ((units: number, error: unknown) => void) | null {
  if (activeSpan() === undefined) return null;
  const span = tracer.start("storage commit", { attributes: { "db.operation.name": "COMMIT" } });
  return (units, error) => {
    span.set({ "skyhook.storage.units": units });
    span.end(error === null ? undefined : faultOf(error));
  };
}
