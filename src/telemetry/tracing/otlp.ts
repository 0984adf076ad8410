import { type Attributes, type EndedSpan, spanKinds } from "./span.ts";

/** Who speaks: the attributes of the resource (`service.name` and so on). */
export type Resource = Readonly<Record<string, string>>;

const failedStatus = 2;

/**
 * Spans as an `ExportTraceServiceRequest` in OTLP's JSON encoding: ids in hexadecimal, enumerations as
 * numbers, 64-bit integers as text (OTLP specification 1.10, "JSON Protobuf Encoding").
 */
export function otlpRequest(
  resource: Resource,
  scope: { readonly name: string; readonly version: string },
  spans: readonly EndedSpan[],
): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope, spans: spans.map(otlpSpan) }],
      },
    ],
  });
}

function otlpSpan(span: EndedSpan) {
  const { traceId, spanId, state } = span.context;
  return {
    traceId,
    spanId,
    ...(state !== null && { traceState: state }),
    ...(span.parentSpanId !== null && { parentSpanId: span.parentSpanId }),
    // Bit 0 is the sampled flag of W3C: what is not sampled is not exported.
    flags: 1,
    name: span.name,
    kind: spanKinds[span.kind],
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(span.endMs),
    attributes: keyValues(span.attributes),
    status: span.failed ? { code: failedStatus } : {},
  };
}

/** A number has not enough digits for nanoseconds since 1970: text is made of two parts. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  const fraction = Math.floor((ms - whole) * 1_000_000);
  return `${whole}${String(fraction).padStart(6, "0")}`;
}

function keyValues(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: Attributes[string]) {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
