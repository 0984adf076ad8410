import { createParser } from "eventsource-parser";

import { consoleHeaders } from "./api.ts";
import { signOut } from "./session/session.ts";
import type { SessionInfo } from "./wire.ts";

/** The state of the connection to the live feed. */
export type FeedState =
  | { readonly name: "connecting" }
  | { readonly name: "live" }
  | { readonly name: "waiting"; readonly untilMs: number };

interface Follower {
  /** Called after each connect: load what arrived while the feed was disconnected. */
  onOpen(): void;
  onMessage(): void;
  onState(state: FeedState): void;
}

/** Delays before each reconnect; the last one repeats. */
const retryDelaysMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/** A stream that ends earlier did not end as planned: reconnect with a delay. */
const leastStreamMs = 10_000;
/** The server sends a heartbeat every 15 s. After this long without one, the connection counts as lost. */
const idleTimeoutMs = 40_000;
/**
 * A hidden page closes its connection after this long. With HTTP/1.1, browsers open at most six connections
 * per host across all tabs, so a seventh tab would never connect.
 */
const hiddenMs = 5_000;

/**
 * Follows `GET /v1/feed` until `signal` aborts. Reconnects after every disconnect and resumes after the last
 * message. Uses `fetch`, because `EventSource` hides the status of a response and cannot send `Last-Event-ID` first.
 */
export async function followFeed(
  sessionId: SessionInfo["id"],
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  let lastEventId: string | null = null;
  let failures = 0;
  let openedMs = 0;
  while (!signal.aborted) {
    if (openedMs === 0) follower.onState({ name: "connecting" });
    try {
      for await (const id of messages(sessionId, lastEventId, signal, opened)) {
        lastEventId = id;
        follower.onMessage();
      }
      // The server ends the streams of a session every minute, to look whether it still exists.
      if (!signal.aborted && !isHidden() && Date.now() - openedMs > leastStreamMs) continue;
    } catch {
      // Disconnected or rejected: reconnect below.
    }
    openedMs = 0;
    if (signal.aborted) return;
    if (isHidden()) {
      follower.onState({ name: "connecting" });
      await untilVisible(signal);
      continue;
    }
    const delayMs = retryDelaysMs[Math.min(failures, retryDelaysMs.length - 1)] ?? 30_000;
    failures += 1;
    const jitteredMs = delayMs * (0.8 + Math.random() * 0.4);
    follower.onState({ name: "waiting", untilMs: Date.now() + jitteredMs });
    await pause(jitteredMs, signal);
  }

  function opened(): void {
    failures = 0;
    openedMs = Date.now();
    follower.onState({ name: "live" });
    follower.onOpen();
  }
}

/** Yields each message's id, until the stream ends or times out. */
async function* messages(
  sessionId: SessionInfo["id"],
  lastEventId: string | null,
  signal: AbortSignal,
  opened: () => void,
): AsyncGenerator<string, void> {
  const idle = new AbortController();
  let timer = setTimeout(() => idle.abort(), idleTimeoutMs);
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = () => {
    clearTimeout(hiding);
    if (isHidden()) hiding = setTimeout(() => idle.abort(), hiddenMs);
  };
  onVisibility();
  document.addEventListener("visibilitychange", onVisibility);
  const headers = new Headers({ ...consoleHeaders, accept: "text/event-stream" });
  if (lastEventId !== null) headers.set("last-event-id", lastEventId);
  try {
    const ended = AbortSignal.any([signal, idle.signal]);
    const response = await fetch("v1/feed", { headers, signal: ended, cache: "no-store" });
    if (response.status === 401) signOut("expired", sessionId);
    if (response.status === 403) signOut("forbidden", sessionId);
    if (!response.ok || response.body === null) throw new Error(`${response.status}`);
    opened();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const ids: string[] = [];
    const parser = createParser({ onEvent: ({ id = "" }) => void ids.push(id) });
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(), idleTimeoutMs);
      parser.feed(value);
      yield* ids.splice(0);
    }
  } finally {
    clearTimeout(timer);
    clearTimeout(hiding);
    document.removeEventListener("visibilitychange", onVisibility);
  }
}

const isHidden = (): boolean => document.visibilityState === "hidden";

/** Waits until the page is visible again. */
function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (isHidden() && !signal.aborted) return;
      document.removeEventListener("visibilitychange", check);
      signal.removeEventListener("abort", check);
      resolve();
    };
    document.addEventListener("visibilitychange", check);
    signal.addEventListener("abort", check);
    check();
  });
}

/** Waits for `ms`, or until the network is back or `reconnect` is called. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      removeEventListener("online", done);
      removeEventListener("skyhook:reconnect", done);
      signal.removeEventListener("abort", done);
      resolve();
    }
    addEventListener("online", done);
    addEventListener("skyhook:reconnect", done);
    signal.addEventListener("abort", done);
  });
}

/** Makes a waiting feed reconnect at once. */
export function reconnect(): void {
  dispatchEvent(new Event("skyhook:reconnect"));
}
