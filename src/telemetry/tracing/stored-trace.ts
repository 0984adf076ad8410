import { activeSpan } from "./span.ts";
import { readTraceContext, type TraceContext, traceHeaders } from "./trace-context.ts";

type Headers = Readonly<Record<string, string>>;

/**
 * The headers to keep with an event, with the trace context of the request that made it as
 * `traceparent`: every hop puts its own there (W3C Trace Context section 3.4), and a later delivery of
 * the event, perhaps by another process, continues that trace. Unchanged where tracing is off.
 */
export function withTrace<Kept extends Headers | null>(headers: Kept): Kept | Headers {
  const span = activeSpan();
  if (span === undefined) return headers;
  const { tracestate: _, ...others } = headers ?? {};
  return { ...others, ...traceHeaders(span.context) };
}

/** The context that `withTrace` kept; null where there is none. */
export function storedTrace(headers: Headers | null): TraceContext | null {
  return readTraceContext(headers?.["traceparent"] ?? null, headers?.["tracestate"] ?? null);
}
