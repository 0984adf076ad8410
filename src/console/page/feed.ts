import { signOut } from "./session.ts";

/** Whether new things arrive by themselves. */
export type FeedState =
  | { readonly name: "connecting" }
  | { readonly name: "live" }
  | { readonly name: "waiting"; readonly untilMs: number };

interface Follower {
  /** The feed is open: what came in the meantime can be asked for now. */
  onOpen(): void;
  onMessage(): void;
  onState(state: FeedState): void;
}

/** Waits before each new try; the last one is repeated. */
const retryDelaysMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/** The server says something every 15 s; when it has been silent for this long, the line is dead. */
const silenceMs = 40_000;
/**
 * A page that nobody looks at gives its connection back after this long: by HTTP/1.1 browsers have six
 * for a server, over all their tabs, and a seventh tab would wait for ever.
 */
const hiddenMs = 5_000;

/**
 * Follows `GET /v1/feed` until `signal` aborts, and comes back after every break, from the last message
 * seen. By `fetch`, since `EventSource` sends no `Authorization` (and a token has no place in a URL).
 */
export async function followFeed(
  token: string,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  let lastEventId: string | null = null;
  let failures = 0;
  while (!signal.aborted) {
    follower.onState({ name: "connecting" });
    try {
      for await (const id of messages(token, lastEventId, signal, opened)) {
        if (id === null) continue;
        lastEventId = id;
        follower.onMessage();
      }
    } catch {
      // Lost or refused: try again below.
    }
    if (signal.aborted) return;
    if (isHidden()) {
      follower.onState({ name: "connecting" });
      await shown(signal);
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
    follower.onState({ name: "live" });
    follower.onOpen();
  }
}

/** The id of each message, null for heartbeats, until the stream ends or falls silent. */
async function* messages(
  token: string,
  lastEventId: string | null,
  signal: AbortSignal,
  opened: () => void,
): AsyncGenerator<string | null, void> {
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), silenceMs);
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = () => {
    clearTimeout(hiding);
    if (isHidden()) hiding = setTimeout(() => silent.abort(), hiddenMs);
  };
  onVisibility();
  document.addEventListener("visibilitychange", onVisibility);
  const headers = new Headers({ authorization: `Bearer ${token}`, accept: "text/event-stream" });
  if (lastEventId !== null) headers.set("last-event-id", lastEventId);
  try {
    const ended = AbortSignal.any([signal, silent.signal]);
    const response = await fetch("v1/feed", { headers, signal: ended, cache: "no-store" });
    if (response.status === 401) signOut("expired", token);
    if (response.status === 403) signOut("forbidden", token);
    if (!response.ok || response.body === null) throw new Error(`${response.status}`);
    opened();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) yield /^id: (\d+)$/m.exec(block)?.[1] ?? null;
    }
  } finally {
    clearTimeout(timer);
    clearTimeout(hiding);
    document.removeEventListener("visibilitychange", onVisibility);
  }
}

const isHidden = (): boolean => document.visibilityState === "hidden";

/** Waits until the page is looked at again. */
function shown(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (isHidden() && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}

/** Waits; shorter when the network comes back or somebody looks again. */
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

/** Tries again now, whoever waits. */
export function reconnect(): void {
  dispatchEvent(new Event("skyhook:reconnect"));
}
