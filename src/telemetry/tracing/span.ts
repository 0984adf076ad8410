import { AsyncLocalStorage } from "node:async_hooks";

import type { TraceContext } from "./trace-context.ts";

/** What a span says of itself. Never a secret, a body, a value of a query or anything personal. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** The sides of a call, as OTLP numbers them (`Span.SpanKind`). */
export const spanKinds = { internal: 1, server: 2, client: 3 } as const;
export type SpanKind = keyof typeof spanKinds;

/** How long something took, and where it belongs. */
export interface Span {
  readonly context: TraceContext;
  /** Added to `performance.now()` it is the time of day; one for all that a request does. */
  readonly clockOffsetMs: number;
  /** Says more of it; until it has ended. */
  set(attributes: Attributes): void;
  /** It is over; counts once. With `error`, why it failed: a code of ours, never a message. */
  end(error?: { readonly type: string; readonly isOurs: boolean }): void;
}

/** A span that has ended, as it is exported. */
export interface EndedSpan {
  readonly context: TraceContext;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since the epoch, with a fraction. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** Whether it failed, and the fault is ours. */
  readonly failed: boolean;
}

const active = new AsyncLocalStorage<Span>();

/** The span that the code running now belongs to; undefined where tracing is off. */
export function activeSpan(): Span | undefined {
  return active.getStore();
}

/** Runs `work`, and all that it awaits, as part of a span. Does not end the span. */
export function runInSpan<Result>(span: Span, work: () => Result): Result {
  return active.run(span, work);
}

/** Runs `work` as part of no span: what it begins goes on after the span that happens to be active. */
export function detached<Result>(work: () => Result): Result {
  return active.getStore() === undefined ? work() : active.exit(work);
}
