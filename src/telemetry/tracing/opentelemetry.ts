import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import type { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

import { version } from "../../base/version.ts";

import { spanExport } from "./span-export.ts";
import { activeSpan } from "./span.ts";
import type { TraceContext } from "./trace-context.ts";
import type { Tracer } from "./tracer.ts";
import type { TracingParts, TracingSettings } from "./tracing-settings.ts";

type Settings = TracingSettings & { readonly otlpEndpoint: string };

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT };

/** Makes a tracer with OpenTelemetry's SDK. Import this module dynamically, because the SDK slows the start. */
export function openTracer(
  settings: Settings,
  Exporter: typeof OTLPTraceExporter,
  { now, ...parts }: TracingParts,
): Tracer {
  const exporter = new Exporter({
    url: `${settings.otlpEndpoint.replace(/\/+$/, "")}/v1/traces`,
    headers: { ...settings.otlpHeaders },
    timeoutMillis: settings.otlpTimeoutMs,
    userAgent: "Skyhook",
  });
  const spans = spanExport(exporter, { ...parts, timeoutMs: settings.otlpTimeoutMs });
  const tracer = new TracerProvider({
    resource: resourceOf(settings),
    sampler: samplerOf(settings),
    spanProcessors: [spans.processor],
  }).getTracer("skyhook", version);

  return {
    start(name, { kind = "internal", parent, attributes } = {}) {
      const active = parent === undefined ? activeSpan() : undefined;
      const parentContext = active?.context ?? parent ?? null;
      const startedMs = performance.now();
      const clockOffsetMs = active?.clockOffsetMs ?? now() - startedMs;
      const span = tracer.startSpan(
        name,
        {
          kind: kinds[kind],
          startTime: clockOffsetMs + startedMs,
          ...(attributes !== undefined && { attributes }),
        },
        parentContext === null ? ROOT_CONTEXT : contextOf(parentContext, active === undefined),
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      const sampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
      return {
        context: { traceId, spanId, sampled, state: parentContext?.state ?? null },
        clockOffsetMs,
        set(more) {
          if (span.isRecording()) span.setAttributes(more);
        },
        end(error) {
          if (!span.isRecording()) return;
          if (error !== undefined) span.setAttribute("error.type", error.type);
          if (error?.isServerError === true) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end(clockOffsetMs + performance.now());
        },
      };
    },
    stop: (timeoutMs) => spans.stop(timeoutMs),
  };
}

function contextOf({ traceId, spanId, sampled, state }: TraceContext, isRemote: boolean): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote,
    ...(state !== null && { traceState: createTraceState(state) }),
  });
}

function samplerOf({ otelSampler: name, otelSamplerRatio: ratio }: Settings): Sampler {
  const rootName = name.replace("parentbased_", "");
  const root =
    rootName === "traceidratio"
      ? new TraceIdRatioBasedSampler(ratio)
      : rootName === "always_on"
        ? new AlwaysOnSampler()
        : new AlwaysOffSampler();
  return rootName === name ? root : new ParentBasedSampler({ root });
}

function resourceOf({ otelServiceName, otelResourceAttributes }: Settings): Resource {
  const ours = resourceFromAttributes({
    "service.version": version,
    "process.runtime.name": "bun",
    "process.runtime.version": Bun.version,
    "service.instance.id": crypto.randomUUID(),
    ...otelResourceAttributes,
    "service.name": otelServiceName,
  });
  return defaultResource().merge(ours);
}
