import type { Receipt } from "../../events/event.ts";

import { activeSpan } from "./span.ts";
import { readTraceContext, type TraceContext, traceHeaders } from "./trace-context.ts";

type Headers = Receipt["headers"];

/**
 * The headers that are kept with an event, with the place in the trace of the request that made it in
 * `traceparent`: every hop puts its own there (W3C Trace Context section 3.4), and what is delivered
 * of the event later, perhaps by another process, goes on from there. As they are where tracing is off.
 */
export function withTrace<Kept extends Headers | null>(headers: Kept): Kept | Headers {
  const span = activeSpan();
  if (span === undefined) return headers;
  const { tracestate: _, ...others } = headers ?? {};
  return { ...others, ...traceHeaders(span.context) };
}

/** The place that `withTrace` kept; null where there is none. */
export function storedTrace(headers: Headers | null): TraceContext | null {
  return readTraceContext(headers?.["traceparent"] ?? null, headers?.["tracestate"] ?? null);
}
