import { AppError, isServerError } from "../../base/errors.ts";

import { type Attributes, runInSpan, type Span, type SpanKind } from "./span.ts";
import type { TraceContext } from "./trace-context.ts";

/** Starts spans. Code uses null instead of a tracer if tracing is off. */
export interface Tracer {
  start(name: string, options?: SpanOptions): Span;
  /** Exports the pending spans. Drops those that are left after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
}

interface SpanOptions {
  readonly kind?: SpanKind;
  /** Default: the active span. A context comes from another process or from storage. Null starts a new trace. */
  readonly parent?: TraceContext | null;
  readonly attributes?: Attributes;
}

/** Runs `work` in a new span; without a span if tracing is off. Then the result is a promise only if that of `work` is. */
export function inSpan<Result>(
  tracer: Tracer | null,
  name: string,
  options: SpanOptions,
  work: () => Result,
): Result | Promise<Awaited<Result>> {
  return tracer === null ? work() : inSpanOf(tracer.start(name, options), work);
}

async function inSpanOf<Result>(span: Span, work: () => Result): Promise<Awaited<Result>> {
  try {
    const result = await runInSpan(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end(spanErrorOf(error));
    throw error;
  }
}

/** The error code that a span records, and whether the server caused the error. */
export function spanErrorOf(error: unknown): NonNullable<Parameters<Span["end"]>[0]> {
  if (!(error instanceof AppError)) return { type: "internal", isServerError: true };
  return { type: error.code, isServerError: isServerError(error) };
}
