import type { Log } from "../log.ts";

/** The standard names of samplers (`OTEL_TRACES_SAMPLER`). */
export const samplerNames = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** The settings of tracing; each is OpenTelemetry's environment variable of the same meaning. */
export interface TracingSettings {
  /** Null: no traces. */
  readonly otlpEndpoint: string | null;
  readonly otlpHeaders: Readonly<Record<string, string>> | null;
  readonly otlpTimeoutMs: number;
  readonly otelServiceName: string;
  readonly otelResourceAttributes: Readonly<Record<string, string>>;
  readonly otelSampler: (typeof samplerNames)[number];
  /** The share of traces that samplers by ratio record, from 0 to 1. */
  readonly otelSamplerRatio: number;
}

/** What became of spans that ended. */
export type SpanOutcome = "exported" | "dropped" | "rejected";

export interface TracingParts {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly count: (outcome: SpanOutcome, spans: number) => void;
}
