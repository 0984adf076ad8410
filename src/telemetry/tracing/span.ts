import { AsyncLocalStorage } from "node:async_hooks";

import type { TraceContext } from "./trace-context.ts";

/** Attributes of a span. They never contain a secret, a body, a query parameter value or personal data. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export type SpanKind = "internal" | "server" | "client";

/** One timed operation of a trace. */
export interface Span {
  readonly context: TraceContext;
  /** Added to `performance.now()`, gives Unix time in milliseconds. Equal for all spans of a request. */
  readonly clockOffsetMs: number;
  /** Adds attributes; has no effect once the span has ended. */
  set(attributes: Attributes): void;
  /** Ends the span; later calls have no effect. `error.type` is a code, never a message. */
  end(error?: { readonly type: string; readonly isServerError: boolean }): void;
}

const active = new AsyncLocalStorage<Span>();

/** The span of the current asynchronous context; undefined without one or if tracing is off. */
export function activeSpan(): Span | undefined {
  return active.getStore();
}

/** Runs `work`, including what it awaits, in the context of a span. Does not end the span. */
export function runInSpan<Result>(span: Span, work: () => Result): Result {
  return active.run(span, work);
}

/** Runs `work` outside the active span. For work that outlives the span. */
export function runDetached<Result>(work: () => Result): Result {
  return active.getStore() === undefined ? work() : active.exit(work);
}
