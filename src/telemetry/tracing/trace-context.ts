/** The place of a span in its trace, as it travels between programs (W3C Trace Context). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** Whether the trace is recorded. */
  readonly sampled: boolean;
  /** `tracestate`: what other systems hand along; null for none. */
  readonly state: string | null;
}

const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;
const sampledFlag = 1;

/**
 * Reads `traceparent` and `tracestate`. Null where there is no `traceparent` or it is malformed; a
 * `tracestate` that is malformed is left out (W3C Trace Context sections 3.2 and 3.3).
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

/** What has to be handed along, and no more: it goes to the operator gateway and to the database. */
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

/** The headers that hand a trace on; also the attributes of CloudEvents' extension for tracing. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

export function traceHeaders({ traceId, spanId, sampled, state }: TraceContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
  return state === null ? { traceparent } : { traceparent, tracestate: state };
}
