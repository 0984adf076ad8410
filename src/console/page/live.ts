import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";

import { type FeedState, followFeed } from "./feed.ts";

/** What the feed tells all views: its state, and a number that rises whenever there may be news. */
export interface Live {
  readonly state: FeedState;
  readonly news: number;
}

export const LiveContext = createContext<Live>({ state: { name: "connecting" }, news: 0 });
export const useLive = (): Live => useContext(LiveContext);

/** Views hear of news at most this often: a burst of hundreds is one reason to look. */
const newsIntervalMs = 100;

/** Follows the feed as long as somebody is signed in. */
export function useFeed(token: string): Live {
  const [state, setState] = useState<FeedState>({ name: "connecting" });
  const [news, setNews] = useState(0);
  useEffect(() => {
    const over = new AbortController();
    let timer: ReturnType<typeof setTimeout> | null = null;
    const tell = () => {
      timer ??= setTimeout(() => {
        timer = null;
        setNews((count) => count + 1);
      }, newsIntervalMs);
    };
    void followFeed(token, { onOpen: tell, onMessage: tell, onState: setState }, over.signal);
    return () => {
      over.abort();
      if (timer !== null) clearTimeout(timer);
    };
  }, [token]);
  return { state, news };
}

/** Calls `action` every `ms` while the page is looked at, and at once when it is looked at again. */
export function useInterval(action: () => void, ms: number): void {
  const latest = useRef(action);
  latest.current = action;
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === "visible") latest.current();
    };
    const timer = setInterval(tick, ms);
    document.addEventListener("visibilitychange", tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  }, [ms]);
}
