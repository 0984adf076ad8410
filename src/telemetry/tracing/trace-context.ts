/** Identifies a span and its trace across processes (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** Whether the trace is recorded. */
  readonly sampled: boolean;
  /** `tracestate`, the data of other tracing systems; null without one. */
  readonly state: string | null;
}

const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;
const sampledFlag = 1;

/**
 * Parses `traceparent` and `tracestate`. Returns null if `traceparent` is missing or malformed, and omits a
 * malformed `tracestate` (W3C Trace Context sections 3.2 and 3.3).
 */
export function readTraceContext(
  traceparent: string | null,
  tracestate: string | null,
): TraceContext | null {
  if (traceparent === null) return null;
  const [, version, traceId = "", spanId = "", flags = "", rest] =
    traceparentForm.exec(traceparent) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) {
    return null;
  }
  if (zeros.test(traceId) || zeros.test(spanId)) return null;
  const sampled = (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag;
  return { traceId, spanId, sampled, state: readTraceState(tracestate) };
}

/** The least that must be propagated. Longer values are dropped, because the state is stored and sent on. */
const maxStateLength = 512;
const maxStateMembers = 32;
const stateMember = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

function readTraceState(header: string | null): string | null {
  if (header === null || header.length > maxStateLength) return null;
  const members = header
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
  if (members.length === 0 || members.length > maxStateMembers) return null;
  return members.every((member) => stateMember.test(member)) ? members.join(",") : null;
}

/** The headers that propagate a trace; also the attributes of the CloudEvents extension for tracing. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

export function traceHeaders({ traceId, spanId, sampled, state }: TraceContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
  return state === null ? { traceparent } : { traceparent, tracestate: state };
}
