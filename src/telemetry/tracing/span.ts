import { AsyncLocalStorage } from "node:async_hooks";

import type { TraceContext } from "./trace-context.ts";

/** What a span records. Never a secret, a body, a value of a query or anything personal. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** The sides of a call that we have. */
export type SpanKind = "internal" | "server" | "client";

/** One timed operation of a trace. */
export interface Span {
  readonly context: TraceContext;
  /** Added to `performance.now()` it is the time of day; the same for all spans of one request. */
  readonly clockOffsetMs: number;
  /** Adds attributes; has no effect once the span has ended. */
  set(attributes: Attributes): void;
  /** Ends the span; later calls have no effect. `error`: why it failed, as a code, never a message. */
  end(error?: { readonly type: string; readonly isServerError: boolean }): void;
}

const active = new AsyncLocalStorage<Span>();

/** The span that the running code belongs to; undefined where tracing is off. */
export function activeSpan(): Span | undefined {
  return active.getStore();
}

/** Runs `work`, and all that it awaits, as part of a span. Does not end the span. */
export function runInSpan<Result>(span: Span, work: () => Result): Result {
  return active.run(span, work);
}

/** Runs `work` as part of no span: for work that outlives the span that happens to be active. */
export function detached<Result>(work: () => Result): Result {
  return active.getStore() === undefined ? work() : active.exit(work);
}
