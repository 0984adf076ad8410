import { AppError, isServerError } from "../../base/errors.ts";

import { type Attributes, runInSpan, type Span, type SpanKind } from "./span.ts";
import type { TraceContext } from "./trace-context.ts";

/** Starts spans. Null in its place means that tracing is off, which costs one comparison. */
export interface Tracer {
  start(name: string, options?: SpanOptions): Span;
  /** Exports what is left, for `patienceMs` at most. */
  stop(patienceMs: number): Promise<void>;
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  /** By default the active span; a context is that of another program or of an earlier time; null starts a new trace. */
  readonly parent?: TraceContext | null;
  readonly attributes?: Attributes;
}

/** Runs `work` in a span of its own, which ends with it; where tracing is off, just runs it. */
export function inSpan<Result>(
  tracer: Tracer | null,
  name: string,
  options: SpanOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  return tracer === null ? work() : inSpanOf(tracer.start(name, options), work);
}

async function inSpanOf<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await runInSpan(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end(faultOf(error));
    throw error;
  }
}

/** What a span records of an error: its code, and whether it is ours. */
export function faultOf(error: unknown): NonNullable<Parameters<Span["end"]>[0]> {
  if (!(error instanceof AppError)) return { type: "internal", isServerError: true };
  return { type: error.code, isServerError: isServerError(error) };
}
