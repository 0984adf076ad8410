import { createParser, type EventSourceMessage } from "eventsource-parser";

import { pause, systemClock } from "../base/clock.ts";
import { parseJson } from "../base/json.ts";
import { isObject, type JsonObject } from "../base/payload.ts";

import { type Answer, isItRunning, jsonObject, reasonOf } from "./request.ts";
import { serverError } from "./server-tokens.ts";

/** One message of the server's stream of events. */
export interface SourceMessage {
  /** The position to resume after. */
  readonly seq: number;
  /** Null: only a position. */
  readonly event: JsonObject | null;
}

export interface Source {
  /** The address of the stream, with its filters. */
  readonly url: string;
  readonly mint: () => Promise<string>;
  readonly signal: AbortSignal;
  /** Called when the connection is lost, before it is tried again after `delayMs`. */
  readonly onLost: (reason: string, delayMs: number) => void;
  /** Called when the server has answered. */
  readonly onConnected: () => void;
}

const connectTimeoutMs = 15_000;
/** The server sends a heartbeat every 15 s. */
const idleTimeoutMs = 50_000;
const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** Larger than the largest accepted body with every byte escaped. */
const maxMessageLength = 256 * 1024 * 1024;
const maxProblemBytes = 64 * 1024;

/** The server answers, but cannot serve the request now. */
class BusyError extends Error {}

/** The server does not accept the request. Repeating it does not help. */
class SourceError extends Error {}

/**
 * Yields the messages after `seq`, or new ones if null, until the signal aborts. Reconnects with growing
 * delays, and resumes after the last yielded message. Throws a `SourceError`, also if no server answers the first
 * request: its address is wrong, or it does not run.
 */
export async function* messagesOf(
  source: Source,
  seq: number | null,
): AsyncGenerator<SourceMessage, void> {
  let last = seq;
  let delayMs = firstDelayMs;
  let wasThere = false;
  const onConnected = () => {
    wasThere = true;
    source.onConnected();
  };
  while (!source.signal.aborted) {
    let reason = "the server ended the stream";
    try {
      for await (const message of connection({ ...source, onConnected }, last)) {
        delayMs = firstDelayMs;
        last = message.seq;
        yield message;
      }
    } catch (error) {
      if (error instanceof SourceError) throw error;
      reason = reasonOf(error);
      wasThere ||= error instanceof BusyError;
      if (!wasThere && !source.signal.aborted) {
        throw new SourceError(
          `${new URL(source.url).origin} cannot be reached (${reason}): ${isItRunning}`,
        );
      }
    }
    if (source.signal.aborted) return;
    // Up to a quarter less, so that many clients do not all return at once.
    const jitteredMs = Math.round(delayMs * (1 - Math.random() / 4));
    source.onLost(reason, jitteredMs);
    await pause(systemClock, jitteredMs, source.signal);
    delayMs = Math.min(delayMs * 2, longestDelayMs);
  }
}

/** The messages of one connection. Throws if it breaks. */
async function* connection(
  { url, mint, signal, onConnected }: Source,
  seq: number | null,
): AsyncGenerator<SourceMessage, void> {
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const expire = (reason: string) => () => ended.abort(new Error(reason));
  let timer = setTimeout(
    expire(`no response within ${connectTimeoutMs / 1_000} s`),
    connectTimeoutMs,
  );
  try {
    const headers = {
      accept: "text/event-stream",
      authorization: `Bearer ${await mint()}`,
      ...(seq !== null && { "last-event-id": String(seq) }),
    };
    // Redirects are not followed, so that the token does not reach another server.
    const response = await fetch(url, { headers, signal: both, redirect: "manual" });
    if (response.status !== 200) throw await errorOf(response);
    onConnected();
    const decoder = new TextDecoder();
    const arrived: EventSourceMessage[] = [];
    const parser = createParser({
      maxBufferSize: maxMessageLength,
      onEvent: (message) => void arrived.push(message),
      onError({ type }) {
        // Other errors are lines of no known field, which are ignored (HTML Living Standard, section 9.2.6).
        if (type === "max-buffer-size-exceeded") {
          throw new SourceError("The server sent a message that is too large");
        }
      },
    });
    const reader = (response.body ?? new ReadableStream()).getReader();
    for (;;) {
      clearTimeout(timer);
      // Runs only while waiting: a slow consumer does not lose the connection.
      timer = setTimeout(expire(`no data for ${idleTimeoutMs / 1_000} s`), idleTimeoutMs);
      const { value, done } = await reader.read();
      clearTimeout(timer);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const raw of arrived.splice(0)) {
        const message = messageIn(raw);
        if (message !== null) yield message;
      }
    }
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

function messageIn({ id = "", event: name, data }: EventSourceMessage): SourceMessage | null {
  if (!/^\d{1,15}$/.test(id)) return null;
  if (name !== "event") return { seq: Number(id), event: null };
  const event: unknown = parseJson(data);
  return { seq: Number(id), event: isObject(event) ? event : null };
}

/** Errors of the server, and too many requests, pass; others are final. */
async function errorOf(response: Response): Promise<Error> {
  const { status, ok } = response;
  const text = await beginningOf(response);
  const answer: Answer = { status, ok, location: null, text, json: jsonObject(text) };
  const message = serverError(answer, "operator");
  if (status >= 500 || status === 429 || status === 408) return new BusyError(message);
  return new SourceError(message);
}

/** The beginning of a response's body. Does not wait for the rest. */
export async function beginningOf(response: Response, maxBytes = maxProblemBytes): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    text += decoder.decode(chunk.subarray(0, maxBytes), { stream: true });
    // Leaving the loop cancels the rest.
    if (bytes >= maxBytes) break;
  }
  return text;
}
