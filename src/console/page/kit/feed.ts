import { follow } from "../../../client/feed.ts";

import { consoleHeaders } from "./early.ts";
import { signOut } from "./session.ts";
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

/** A stream that ends earlier did not end as planned. */
const leastStreamMs = 10_000;
/**
 * A hidden page closes its connection after this long. With HTTP/1.1, browsers open at most six connections
 * per host across all tabs, so a seventh tab would never connect.
 */
const hiddenMs = 5_000;

/** Follows `GET /v1/feed` until `signal` aborts, while the page is visible. Resumes after the last message. */
export async function followFeed(
  sessionId: SessionInfo["id"],
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  const send = async (request: Request): Promise<Response> => {
    for (const [name, value] of Object.entries(consoleHeaders)) request.headers.set(name, value);
    const response = await fetch(request, { cache: "no-store" });
    if (response.status === 401) signOut("expired", sessionId);
    if (response.status === 403) signOut("forbidden", sessionId);
    // The reader would give up on other answers than those of a busy server.
    if (!response.ok) throw new Error(`${response.status}`);
    return response;
  };
  let lastEventId = "";
  let openedMs = 0;
  const onOpen = () => {
    openedMs = Date.now();
    follower.onState({ name: "live" });
    follower.onOpen();
  };
  const onLost = (_: unknown, delayMs: number) => {
    // The server ends the streams of a session every minute, to look whether it still exists.
    if (Date.now() - openedMs > leastStreamMs && openedMs > 0) openedMs = 0;
    else follower.onState({ name: "waiting", untilMs: Date.now() + delayMs });
  };
  while (!signal.aborted) {
    follower.onState({ name: "connecting" });
    await untilVisible(signal);
    const pause = pausing();
    const ended = AbortSignal.any([signal, pause.signal]);
    const options = { lastEventId, signal: ended, onOpen, onLost };
    try {
      for await (const { id, type } of follow(send, "v1/feed", options)) {
        lastEventId = id;
        if (type !== "position") follower.onMessage();
      }
    } finally {
      pause.end();
    }
  }
}

/** Aborts once the page has been hidden for a while, and when the network is back or `reconnect` is called. */
function pausing() {
  const controller = new AbortController();
  const stop = () => controller.abort();
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = () => {
    clearTimeout(hiding);
    if (isHidden()) hiding = setTimeout(stop, hiddenMs);
  };
  onVisibility();
  document.addEventListener("visibilitychange", onVisibility);
  addEventListener("online", stop);
  addEventListener("skyhook:reconnect", stop);
  return {
    signal: controller.signal,
    end() {
      clearTimeout(hiding);
      document.removeEventListener("visibilitychange", onVisibility);
      removeEventListener("online", stop);
      removeEventListener("skyhook:reconnect", stop);
    },
  };
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

/** Makes a waiting feed reconnect at once. */
export function reconnect(): void {
  dispatchEvent(new Event("skyhook:reconnect"));
}
