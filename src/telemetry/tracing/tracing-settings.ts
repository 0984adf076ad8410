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

/** The settings of tracing. Each corresponds to an environment variable of OpenTelemetry. */
export interface TracingSettings {
  /** Null if tracing is off. */
  readonly otlpEndpoint: string | null;
  readonly otlpHeaders: Readonly<Record<string, string>> | null;
  /** `http/json` is used instead of one that is not known. */
  readonly otlpProtocol: string;
  readonly otlpTimeoutMs: number;
  readonly otelServiceName: string;
  readonly otelResourceAttributes: Readonly<Record<string, string>>;
  readonly otelSampler: (typeof samplerNames)[number];
  /** The ratio of traces that `traceidratio` samplers record, from 0 to 1. */
  readonly otelSamplerRatio: number;
}

/** The outcome of an ended span. */
type SpanOutcome = "exported" | "dropped" | "rejected";

export interface TracingParts {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly count: (outcome: SpanOutcome, spans: number) => void;
}
