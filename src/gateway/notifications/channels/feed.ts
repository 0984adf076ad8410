import type { Clock } from "../../../base/clock.ts";
import type { Event } from "../../event.ts";
import type { Log } from "../../../telemetry/log.ts";
import { feedAfter, newestSeq } from "../notifications.sql.ts";
import type { Storage } from "../../../db/storage.ts";
import type { StoredNotification } from "../../notification.ts";

/** A notification in the feed. `seq` is the position to resume after. */
export interface FeedEntry extends Pick<
  StoredNotification,
  "seq" | "id" | "createdAt" | "title" | "text" | "url" | "severity" | "eventId"
> {
  readonly provider: Event["provider"];
  readonly type: Event["type"];
}

export interface Feed {
  /**
   * Yields every notification after `afterSeq`, or every new one if null, in the order of commits, until
   * the signal aborts or the feed closes. Each follower reads from the database at its own pace, so a slow
   * follower uses no memory and misses nothing.
   */
  follow(afterSeq: number | null, signal: AbortSignal): AsyncGenerator<FeedEntry, void>;
  /** The position of the newest notification. Following from it yields only new notifications. */
  newestSeq(): Promise<number>;
  /** Wakes the followers to read new notifications. */
  wake(): void;
  /** Ends all followers. */
  close(): void;
}

const pageSize = 100;
/** The shortest time between two wake-ups, so that many followers do not slow down the writer. */
const wakeIntervalMs = 20;
/** Followers woken per turn of the event loop, so that requests are handled in between. */
const wokenPerTurn = 10;
/** Delay before the log follows the feed again after an error. */
const logRetryMs = 1_000;

export function feed(storage: Storage, clock: Clock, onFollowers: (count: number) => void): Feed {
  /** The functions that wake the followers. */
  const followers = new Set<() => void>();
  let wakeDue = false;
  let closed = false;

  function wakeAll(): void {
    wakeDue = false;
    wakeInTurn([...followers]);
  }

  function wakeInTurn(sleeping: readonly (() => void)[]): void {
    for (const wakeFollower of sleeping.slice(0, wokenPerTurn)) wakeFollower();
    if (sleeping.length > wokenPerTurn) {
      setImmediate(() => wakeInTurn(sleeping.slice(wokenPerTurn)));
    }
  }

  async function newest(): Promise<number> {
    const [row] = await storage.all(newestSeq, {});
    return row?.seq ?? 0;
  }

  return {
    async *follow(afterSeq, signal) {
      let changed = Promise.withResolvers<void>();
      const wakeUp = () => changed.resolve();
      const isOver = () => closed || signal.aborted;
      signal.addEventListener("abort", wakeUp, { once: true });
      followers.add(wakeUp);
      onFollowers(followers.size);
      try {
        let seq = afterSeq;
        while (!isOver()) {
          // Replaced before reading, so that a commit during the read wakes the follower at once.
          changed = Promise.withResolvers<void>();
          const until = await newest();
          seq ??= until;
          const entries = await storage.all(feedAfter, { seq, until, limit: pageSize });
          for (const entry of entries) {
            if (isOver()) return;
            seq = entry.seq;
            yield entry;
          }
          if (entries.length < pageSize) await changed.promise;
        }
      } catch (error) {
        // A read that fails because of the stop is not an error.
        if (!isOver()) throw error;
      } finally {
        signal.removeEventListener("abort", wakeUp);
        followers.delete(wakeUp);
        onFollowers(followers.size);
      }
    },
    newestSeq: newest,
    wake() {
      if (wakeDue) return;
      wakeDue = true;
      clock.after(wakeIntervalMs, wakeAll);
    },
    close() {
      closed = true;
      wakeAll();
    },
  };
}

/** Logs each new notification as one readable line, until the feed closes. */
export async function logFeed(feed: Feed, log: Log, clock: Clock): Promise<void> {
  let seq: number | null = null;
  for (;;) {
    try {
      for await (const entry of feed.follow(seq, new AbortController().signal)) {
        const { id, eventId, severity, url } = entry;
        log.info({ id, eventId, severity, url }, `notification: ${entry.title}`);
        seq = entry.seq;
      }
      return;
    } catch (error) {
      log.error({ err: error }, "failed to read notifications for the log; retrying");
      await new Promise<void>((resolve) => void clock.after(logRetryMs, resolve));
    }
  }
}
