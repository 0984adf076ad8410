import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";

import { type FeedState, followFeed } from "./feed.ts";
import type { SessionInfo } from "./wire.ts";

/** The live feed, as the views see it. */
export interface Live {
  readonly state: FeedState;
  /** A counter that increases whenever there may be new data. */
  readonly news: number;
}

export const LiveContext = createContext<Live>({ state: { name: "connecting" }, news: 0 });
export const useLive = (): Live => useContext(LiveContext);

/** Calls `action` when there may be new data. */
export function useNews(action: () => void): void {
  const { news } = useLive();
  useEffect(() => void (news > 0 && action()), [news]);
}

/** `news` increases at most this often, so that a burst of messages causes one reload. */
const newsIntervalMs = 100;

/** Follows the feed with this session until the component unmounts. */
export function useFeed(sessionId: SessionInfo["id"]): Live {
  const [state, setState] = useState<FeedState>({ name: "connecting" });
  const [news, setNews] = useState(0);
  useEffect(() => {
    const unmounted = new AbortController();
    let timer: ReturnType<typeof setTimeout> | null = null;
    const countNews = () => {
      timer ??= setTimeout(() => {
        timer = null;
        setNews((count) => count + 1);
      }, newsIntervalMs);
    };
    const follower = { onOpen: countNews, onMessage: countNews, onState: setState };
    void followFeed(sessionId, follower, unmounted.signal);
    return () => {
      unmounted.abort();
      if (timer !== null) clearTimeout(timer);
    };
  }, [sessionId]);
  return { state, news };
}

/** Calls `action` every `ms` while the page is visible, and at once when it becomes visible again. */
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
