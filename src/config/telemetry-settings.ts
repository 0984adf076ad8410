import { samplerNames } from "../telemetry/tracing/tracing-settings.ts";

import { headerPairs, integer, oneOf, pairs, ratio, text, webUrlWithoutQuery } from "./parsers.ts";
import { setting } from "./setting.ts";

/** Logs and traces. */
export const telemetrySettings = {
  logLevel: setting(
    "LOG_LEVEL",
    "info",
    "debug, info, warn, error or silent",
    oneOf("debug", "info", "warn", "error", "silent"),
  ),
  logFormat: setting(
    "LOG_FORMAT",
    "auto",
    "json, pretty, or auto: pretty on a terminal",
    oneOf("auto", "json", "pretty"),
  ),
  otlpEndpoint: setting(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    null,
    "OpenTelemetry collector, for example `http://localhost:4318`; traces are sent to its `/v1/traces`; unset: no traces",
    webUrlWithoutQuery,
  ),
  otlpHeaders: setting(
    "OTEL_EXPORTER_OTLP_HEADERS",
    null,
    "Headers for the collector, for example `authorization=Basic%20abc,x-tenant=1`",
    headerPairs,
    { isSecret: true },
  ),
  otlpProtocol: setting(
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "http/json",
    "http/json or http/protobuf; for any other, http/json is used, with a warning",
    text,
  ),
  otlpTimeoutMs: setting(
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "10000",
    "Time-out of a request to the collector, in milliseconds",
    integer(1, 60_000),
  ),
  otelServiceName: setting("OTEL_SERVICE_NAME", "skyhook", "`service.name` in traces", text),
  otelResourceAttributes: setting(
    "OTEL_RESOURCE_ATTRIBUTES",
    "",
    "Additional resource attributes in traces, for example `deployment.environment.name=staging`",
    pairs,
  ),
  otelSampler: setting(
    "OTEL_TRACES_SAMPLER",
    "parentbased_always_on",
    `Which traces are recorded: ${samplerNames.join(", ")}`,
    oneOf(...samplerNames),
  ),
  otelSamplerRatio: setting(
    "OTEL_TRACES_SAMPLER_ARG",
    "1",
    "Ratio of traces that the ratio samplers record, from 0 to 1",
    ratio,
  ),
} as const;
