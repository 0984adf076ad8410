import { createParser, ParseError } from "eventsource-parser";

import { errorOf, SkyhookError } from "./errors.ts";
import { pause } from "./requests.ts";

export interface FeedOptions {
  /** The `id` of the last message that was handled: the feed continues after it. */
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** After this long without a byte, the connection counts as lost. Default: 40 s. The server sends one every 15 s. */
  readonly idleTimeoutMs?: number | undefined;
  /** Called when the server has answered. */
  readonly onOpen?: (() => void) | undefined;
  /** Called when the connection is lost, before the next try after `delayMs`. What it throws ends the feed. */
  readonly onLost?: ((error: unknown, delayMs: number) => void) | undefined;
}

/** A message of a feed. Store `id` once it is handled. */
export interface FeedMessage {
  /** Empty if the message has none. */
  readonly id: string;
  /** `notification`, `event`, or `position` where nothing matched so far: only the id. */
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const firstWaitMs = 500;
const longestWaitMs = 30_000;
/** Larger than the largest accepted body with every byte escaped. */
const maxMessageLength = 256 * 1024 * 1024;

/**
 * Follows a feed (Server-Sent Events). After a lost connection it connects again, later each time, and continues after
 * the last message. Throws a `SkyhookError` for an answer that a retry does not change.
 */
export async function* follow(
  send: (request: Request) => Promise<Response>,
  url: string,
  options: FeedOptions = {},
  parse: (json: string) => unknown = JSON.parse,
): AsyncGenerator<FeedMessage, void> {
  const { signal, onLost } = options;
  let { lastEventId = "" } = options;
  const onId = (id: string) => void (lastEventId = id);
  let waitMs = firstWaitMs;
  while (!isAborted(signal)) {
    const startedMs = Date.now();
    let lost: unknown = new Error("the server ended the stream");
    try {
      const reading = { ...options, lastEventId, onId, parse };
      for await (const message of connection(send, url, reading)) {
        waitMs = firstWaitMs;
        yield message;
      }
    } catch (error) {
      lost = error;
    }
    if (isAborted(signal)) return;
    if (isFinal(lost)) throw lost;
    // A connection without messages worked too, if it lasted.
    if (Date.now() - startedMs > longestWaitMs) waitMs = firstWaitMs;
    // Up to a quarter less, so that many clients do not all return at once.
    const delayMs = Math.round(waitMs * (1 - Math.random() / 4));
    onLost?.(lost, delayMs);
    await pause(delayMs, signal).catch(() => {});
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  }
}

/** Whether another attempt fails in the same way, unlike after a restart or a lost connection. */
const isFinal = (error: unknown): boolean =>
  error instanceof ParseError || (error instanceof SkyhookError && !passing(error.status));

/** 0: without an answer. */
const passing = (status: number) =>
  status === 0 || status >= 500 || status === 408 || status === 429;

/** It may be aborted during every pause. */
const isAborted = (signal: AbortSignal | undefined) => signal?.aborted === true;

interface Reading extends FeedOptions {
  readonly onId: (id: string) => void;
  readonly parse: (json: string) => unknown;
}

async function* connection(
  send: (request: Request) => Promise<Response>,
  url: string,
  { lastEventId = "", signal, onOpen, onId, parse, idleTimeoutMs = 40_000 }: Reading,
): AsyncGenerator<FeedMessage, void> {
  const ended = new AbortController();
  const stop = () => ended.abort(signal?.reason);
  signal?.addEventListener("abort", stop);
  const expire = () => ended.abort(new Error(`no data for ${idleTimeoutMs / 1_000} s`));
  /** Limits only the time of the server, so that a slow consumer does not lose the connection. */
  function inTime<Value>(answer: Promise<Value>): Promise<Value> {
    const timer = setTimeout(expire, idleTimeoutMs);
    return answer.finally(() => clearTimeout(timer));
  }
  try {
    const request = new Request(url, { signal: ended.signal });
    request.headers.set("accept", "text/event-stream");
    if (lastEventId !== "") request.headers.set("last-event-id", lastEventId);
    const response = await inTime(send(request));
    if (!response.ok || response.body === null) {
      throw errorOf(response.status, await inTime(response.json()).catch(() => null));
    }
    onOpen?.();
    const waiting: FeedMessage[] = [];
    const parser = createParser({
      maxBufferSize: maxMessageLength,
      // Also of a block without an event, which is only a position. The events of a chunk are yielded before the id is used.
      onId(id) {
        onId(id);
        waiting.push({ id, type: "position", data: {} });
      },
      onEvent({ id, event = "message", data }) {
        // The id of this event was reported right before it.
        if (id !== undefined) waiting.pop();
        waiting.push({ id: id ?? "", type: event, data: Object(data === "" ? {} : parse(data)) });
      },
      onError(error) {
        // Other errors are lines of no known field, which are ignored (HTML Living Standard, section 9.2.6).
        if (error.type === "max-buffer-size-exceeded") throw error;
      },
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      parser.feed(value);
      yield* waiting.splice(0);
    }
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", stop);
    ended.abort();
  }
}
