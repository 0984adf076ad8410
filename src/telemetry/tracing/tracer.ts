import { AppError, isOurs } from "../../errors.ts";

import type { Sampler } from "./sampler.ts";
import {
  activeSpan,
  type Attributes,
  type EndedSpan,
  runInSpan,
  type Span,
  type SpanKind,
} from "./span.ts";
import type { TraceContext } from "./trace-context.ts";

/** Makes spans. Null in its place means that tracing is off, which costs one comparison. */
export interface Tracer {
  /** A span that has begun. Its parent is the active span, where none is named. */
  start(name: string, options?: SpanOptions): Span;
  /** Hands out what is left, for `patienceMs` at most. */
  stop(patienceMs: number): Promise<void>;
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  /** Of another program, or of an earlier time; null begins a new trace. */
  readonly parent?: TraceContext | null;
  readonly attributes?: Attributes;
}

/** Takes spans that have ended. Must neither throw nor wait. */
export interface SpanSink {
  take(span: EndedSpan): void;
  stop(patienceMs: number): Promise<void>;
}

/** `now`: milliseconds since the epoch. */
export function createTracer(sink: SpanSink, isSampled: Sampler, now: () => number): Tracer {
  function start(name: string, { kind = "internal", parent, attributes }: SpanOptions = {}): Span {
    const around = parent === undefined ? activeSpan() : undefined;
    const above = parent === undefined ? (around?.context ?? null) : parent;
    const traceId = above?.traceId ?? randomHex(16);
    const context: TraceContext = {
      traceId,
      spanId: randomHex(8),
      sampled: around?.context.sampled ?? isSampled(above, traceId),
      state: above?.state ?? null,
    };
    const startedMs = performance.now();
    const clockOffsetMs = around?.clockOffsetMs ?? now() - startedMs;
    const said = { ...attributes };
    let ended = false;
    return {
      context,
      clockOffsetMs,
      set(more) {
        if (context.sampled) Object.assign(said, more);
      },
      end(error) {
        if (ended || !context.sampled) return;
        ended = true;
        sink.take({
          context,
          parentSpanId: above?.spanId ?? null,
          name,
          kind,
          startMs: clockOffsetMs + startedMs,
          endMs: clockOffsetMs + performance.now(),
          attributes: error === undefined ? said : { ...said, "error.type": error.type },
          failed: error?.isOurs ?? false,
        });
      },
    };
  }

  return { start, stop: (patienceMs) => sink.stop(patienceMs) };
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

/** What a span says of an error: its code, and whether we are to blame. */
export function faultOf(error: unknown): NonNullable<Parameters<Span["end"]>[0]> {
  if (!(error instanceof AppError)) return { type: "internal", isOurs: true };
  return { type: error.code, isOurs: isOurs(error) };
}

function randomHex(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}
