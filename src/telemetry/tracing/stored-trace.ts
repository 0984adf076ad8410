import { activeSpan } from "./span.ts";
import { readTraceContext, type TraceContext, traceHeaders } from "./trace-context.ts";

type Headers = Readonly<Record<string, string>>;

/**
 * Adds the trace context of the active span to the stored headers of an event, in place of the sender's
 * (W3C Trace Context section 3.4). A later delivery of the event, perhaps by another process, continues the
 * trace. Returns the headers unchanged if tracing is off.
 */
export function withTrace<Kept extends Headers | null>(headers: Kept): Kept | Headers {
  const span = activeSpan();
  if (span === undefined) return headers;
  const { tracestate: _, ...others } = headers ?? {};
  return { ...others, ...traceHeaders(span.context) };
}

/** Reads the trace context that `withTrace` stored; null without one. */
export function storedTrace(headers: Headers | null): TraceContext | null {
  return readTraceContext(headers?.["traceparent"] ?? null, headers?.["tracestate"] ?? null);
}
