import type { Clock } from "../../../base/clock.ts";
import type { Event } from "../../event.ts";
import type { Log } from "../../../telemetry/log.ts";
import { feedAfter, newestSeq } from "../notifications.sql.ts";
import type { Storage } from "../../../db/storage.ts";
import type { StoredNotification } from "../../notification.ts";

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
  /** The place of the newest notification: to follow from there is to follow from now on. */
  newestSeq(): Promise<number>;
  /** Tells followers that there is something new. */
  wake(): void;
  /** Ends all followers. */
  close(): void;
}

const pageSize = 100;
/** Followers are woken at most this often, so that many of them do not outrun the writer. */
const wakeIntervalMs = 20;
/** Followers that read in one turn of the event loop: requests are answered between two turns. */
const wokenATurn = 10;
/** The log comes back to the feed this long after reading it failed. */
const logRetryMs = 1_000;

export function feed(storage: Storage, clock: Clock, onFollowers: (count: number) => void): Feed {
  /** One function a follower, which wakes it. */
  const followers = new Set<() => void>();
  let wakeDue = false;
  let closed = false;

  function announce(): void {
    wakeDue = false;
    wakeInTurn([...followers]);
  }

  function wakeInTurn(sleeping: readonly (() => void)[]): void {
    for (const wakeFollower of sleeping.slice(0, wokenATurn)) wakeFollower();
    if (sleeping.length > wokenATurn) setImmediate(() => wakeInTurn(sleeping.slice(wokenATurn)));
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
          // Renewed before reading: what is committed while we read wakes us at once.
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
        // A reading that a stop cut off is no fault: it is over.
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
      clock.after(wakeIntervalMs, announce);
    },
    close() {
      closed = true;
      announce();
    },
  };
}

/** Writes each new notification as one readable line to the log, until the feed closes. */
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
      log.error({ err: error }, "notifications could not be read for the log; trying again");
      await new Promise<void>((resolve) => void clock.after(logRetryMs, resolve));
    }
  }
}
