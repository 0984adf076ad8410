import type { Log } from "../../log.ts";

import { detached, type EndedSpan } from "./span.ts";
import type { SpanSink } from "./tracer.ts";

/** What became of spans that ended. */
export type SpanOutcome = "exported" | "dropped" | "rejected";

interface Parts {
  /** Where OTLP traces are posted, path included. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Spans in the form that is posted. */
  readonly encode: (spans: readonly EndedSpan[]) => string;
  readonly count: (outcome: SpanOutcome, spans: number) => void;
  readonly log: Log;
}

/** The defaults of OpenTelemetry's batch processor. */
const maxQueuedSpans = 2_048;
const maxBatchSpans = 512;
const scheduleDelayMs = 5_000;
/** After a failure the next try waits this long, twice as long each time … */
const firstRetryMs = 1_000;
/** … up to this. */
const longestRetryMs = 60_000;
/** Worth another try (OTLP/HTTP, "Retryable Response Codes"). */
const retryableStatuses = [429, 502, 503, 504];

/**
 * Posts spans to a collector in batches, one at a time, in the background. What cannot be posted now
 * waits and is tried again; when the queue is full, new spans are dropped and counted. So a collector
 * that is slow, down or wrong costs a bounded amount of memory and nothing else.
 */
export function spanExporter(parts: Parts): SpanSink {
  const { count, log } = parts;
  const stopping = new AbortController();
  let queue: EndedSpan[] = [];
  let timer: NodeJS.Timeout | null = null;
  let exporting: Promise<void> | null = null;
  let failures = 0;
  /** What was last said in the log, so that it is said once. */
  let complaint: string | null = null;
  let stopped = false;

  function take(span: EndedSpan): void {
    if (stopped || queue.length >= maxQueuedSpans) return count("dropped", 1);
    queue.push(span);
    if (queue.length === maxBatchSpans && failures === 0) schedule(0);
    else if (timer === null && exporting === null) schedule(scheduleDelayMs);
  }

  function schedule(delayMs: number): void {
    if (timer !== null) clearTimeout(timer);
    // Whoever's span it was that came last: the export is no part of it.
    timer = detached(() => setTimeout(begin, delayMs));
    timer.unref();
  }

  function begin(): void {
    timer = null;
    exporting ??= exportBatch().finally(() => {
      exporting = null;
      if (queue.length === 0 || stopped) return;
      if (failures > 0) schedule(Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs));
      else schedule(queue.length >= maxBatchSpans ? 0 : scheduleDelayMs);
    });
  }

  async function exportBatch(): Promise<void> {
    const batch = queue.slice(0, maxBatchSpans);
    if (batch.length === 0) return;
    const outcome = await post(parts, batch, stopping.signal);
    if ("retry" in outcome) {
      failures += 1;
      complain(outcome.retry, "traces cannot be exported; trying again");
      return;
    }
    failures = 0;
    queue = queue.slice(batch.length);
    complain(outcome.error, "the collector refuses traces");
    count("rejected", outcome.rejected);
    count("exported", batch.length - outcome.rejected);
  }

  function complain(error: string | null, message: string): void {
    if (error === complaint) return;
    complaint = error;
    if (error === null) log.info("traces are exported again");
    else log.warn({ error }, message);
  }

  return {
    take,
    async stop(patienceMs) {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      const patience = setTimeout(() => stopping.abort(), patienceMs);
      await exporting;
      failures = 0;
      // One failure is enough now: nobody is here to try again.
      while (queue.length > 0 && failures === 0 && !stopping.signal.aborted) await exportBatch();
      clearTimeout(patience);
      count("dropped", queue.length);
      queue = [];
    },
  };
}

/** How a post ended: to be tried again, or settled with so many spans refused. */
type Posted =
  { readonly retry: string } | { readonly rejected: number; readonly error: string | null };

/** Ends within the time-out. Never throws. */
async function post(
  { url, headers, timeoutMs, encode }: Parts,
  batch: readonly EndedSpan[],
  signal: AbortSignal,
): Promise<Posted> {
  try {
    const response = await fetch(url, {
      method: "POST",
      // A redirect could carry the headers, and the key in them, to someone else.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      headers: { ...headers, "content-type": "application/json", "user-agent": "Skyhook" },
      body: encode(batch),
    });
    const answer = await beginningOf(response);
    if (response.ok) return { rejected: rejectedOf(answer, batch.length), error: null };
    const error = `HTTP ${response.status}`;
    if (retryableStatuses.includes(response.status)) return { retry: error };
    return { rejected: batch.length, error };
  } catch (error) {
    return { retry: error instanceof Error ? error.message : "unknown error" };
  }
}

/** What comes first of an answer; the rest is never read. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** How many spans a collector says it refused of a batch that it took (OTLP, "Partial Success"). */
function rejectedOf(body: string, most: number): number {
  const rejected = Number(/"rejectedSpans"\s*:\s*"?(\d{1,9})/.exec(body)?.[1] ?? 0);
  return Math.min(rejected, most);
}
