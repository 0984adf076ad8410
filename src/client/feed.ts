import { createParser } from "eventsource-parser";

import { errorOf, SkyhookError } from "./errors.ts";
import { pause } from "./requests.ts";

export interface FeedOptions {
  /** The `id` of the last message that was handled: the feed continues after it. */
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
}

/** A message of a feed. Store `id` once it is handled. */
export interface FeedMessage {
  /** Empty if the message has none. */
  readonly id: string;
  /** `notification`, `event` or `position`. */
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const firstWaitMs = 500;
const longestWaitMs = 30_000;

/**
 * Follows a feed (Server-Sent Events). After a lost connection it connects again, later each time, and continues after
 * the last message. Throws a `SkyhookError` for an answer that a retry does not change.
 */
export async function* follow(
  send: (request: Request) => Promise<Response>,
  url: string,
  { lastEventId = "", signal }: FeedOptions = {},
): AsyncGenerator<FeedMessage, void> {
  let last = lastEventId;
  let waitMs = firstWaitMs;
  while (!isAborted(signal)) {
    try {
      for await (const message of connection(send, url, last, signal)) {
        waitMs = firstWaitMs;
        if (message.id !== "") last = message.id;
        yield message;
      }
    } catch (error) {
      if (isAborted(signal)) return;
      // Of errors only those that a later try can change: a restart, a proxy, a lost connection.
      if (error instanceof SkyhookError && !passing(error.status)) throw error;
    }
    await pause(waitMs * (0.5 + Math.random()), signal).catch(() => {});
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  }
}

const passing = (status: number) => status >= 500 || status === 408 || status === 429;

/** It may be aborted during every pause. */
const isAborted = (signal: AbortSignal | undefined) => signal?.aborted === true;

async function* connection(
  send: (request: Request) => Promise<Response>,
  url: string,
  last: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<FeedMessage, void> {
  const headers = { accept: "text/event-stream", ...(last !== "" && { "last-event-id": last }) };
  const response = await send(new Request(url, { headers, signal: signal ?? null }));
  if (!response.ok || response.body === null) {
    throw errorOf(response.status, await response.json().catch(() => null));
  }
  const waiting: FeedMessage[] = [];
  const parser = createParser({
    onEvent({ id = "", event = "message", data }) {
      const parsed: unknown = data === "" ? {} : JSON.parse(data);
      waiting.push({ id, type: event, data: Object(parsed) });
    },
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(value);
      yield* waiting.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
