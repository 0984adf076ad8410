import { type Clock, pause } from "../../base/clock.ts";
import { type Followers, followers } from "../../db/followers.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event } from "../../event/event.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Notification } from "../model/notification.ts";
import {
  feedAfter,
  newestNotification,
  newestStoredNotification,
} from "../model/notifications.sql.ts";

/** A notification in the feed. `seq` is the position to resume after. */
export interface FeedEntry extends Pick<
  Notification,
  "id" | "createdAt" | "title" | "text" | "url" | "severity" | "eventId"
> {
  readonly seq: number;
  readonly provider: Event["provider"];
  readonly type: Event["type"];
}

/** All notifications, in the order of commits. */
export type Feed = Followers<FeedEntry>;

/** Delay before the log follows the feed again after an error. */
const logRetryMs = 1_000;

export function feed(storage: Storage, clock: Clock, onFollowers: (count: number) => void): Feed {
  return followers(
    {
      async newestSeq() {
        const [row] = await storage.all(newestNotification, {});
        return row?.position ?? 0;
      },
      async newestStored() {
        const [row] = await storage.all(newestStoredNotification, {});
        return row?.position ?? 0;
      },
      read: (range) => storage.all(feedAfter, range),
    },
    clock,
    onFollowers,
  );
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
      await pause(clock, logRetryMs);
    }
  }
}
