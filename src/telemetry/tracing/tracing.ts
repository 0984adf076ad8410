import type { Config } from "../../config.ts";
import type { Log } from "../../log.ts";
import { version } from "../../version.ts";

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

/** What a commit's observer makes of units: a span each, in the trace of whoever handed them in. */
export function commitSpan(tracer: Tracer): ((units: number, error: unknown) => void) | null {
  if (activeSpan() === undefined) return null;
  const span = tracer.start("storage commit", { attributes: { "db.operation.name": "COMMIT" } });
  return (units, error) => {
    span.set({ "skyhook.storage.units": units });
    span.end(error === null ? undefined : faultOf(error));
  };
}
