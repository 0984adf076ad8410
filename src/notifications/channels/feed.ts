import type { Clock } from "../../clock.ts";
import type { Event } from "../../events/event.ts";
import type { Log } from "../../log.ts";
import { feedAfter, newestSeq } from "../../storage/notifications.ts";
import type { Storage } from "../../storage/storage.ts";
import type { StoredNotification } from "../notification.ts";

/** A notification as followers of the feed see it. `seq` is the place to resume after. */
export interface FeedEntry extends Pick<
  StoredNotification,
  "seq" | "id" | "createdAt" | "title" | "text" | "url" | "severity" | "eventId"
> {
  readonly provider: Event["provider"];
  readonly type: Event["type"];
}

export interface Feed {
  /**
   * Every notification after `afterSeq`, or from now on when null, in the order of commit, until the
   * signal aborts or the feed closes. Each follower reads from the database at its own pace, so a slow
   * one costs no memory and loses nothing.
   */
  follow(afterSeq: number | null, signal: AbortSignal): AsyncGenerator<FeedEntry, void>;
  /** Tells followers that there is something new. */
  wake(): void;
  /** Ends all followers. */
  close(): void;
}

const pageSize = 100;
/** Followers are woken at most this often, so that many of them do not outrun the writer. */
const wakeIntervalMs = 20;

export function feed(storage: Storage, clock: Clock, onFollowers: (count: number) => void): Feed {
  const closing = new AbortController();
  let changed = Promise.withResolvers<void>();
  let wakeDue = false;
  let followers = 0;

  function announce(): void {
    wakeDue = false;
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  async function* entriesAfter(
    afterSeq: number | null,
    ended: AbortSignal,
  ): AsyncGenerator<FeedEntry, void> {
    let seq = afterSeq ?? (await storage.all(newestSeq, {}))[0]?.seq ?? 0;
    while (!ended.aborted) {
      // Taken before reading: what is committed while we read wakes us at once.
      const next = changed.promise;
      const entries = await storage.all(feedAfter, { seq, limit: pageSize });
      for (const entry of entries) {
        if (ended.aborted) return;
        seq = entry.seq;
        yield entry;
      }
      if (entries.length < pageSize) await Promise.race([next, aborted(ended)]);
    }
  }

  return {
    async *follow(afterSeq, signal) {
      onFollowers(++followers);
      try {
        yield* entriesAfter(afterSeq, AbortSignal.any([signal, closing.signal]));
      } finally {
        onFollowers(--followers);
      }
    },
    wake() {
      if (wakeDue) return;
      wakeDue = true;
      clock.after(wakeIntervalMs, announce);
    },
    close: () => closing.abort(),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Writes each new notification as one readable line to the log, until the feed closes. */
export async function logFeed(feed: Feed, log: Log): Promise<void> {
  try {
    for await (const entry of feed.follow(null, new AbortController().signal)) {
      const { id, eventId, severity, url } = entry;
      log.info({ id, eventId, severity, url }, `notification: ${entry.title}`);
    }
  } catch (error) {
    log.error({ err: error }, "notifications are no longer written to the log");
  }
}
