import type { Clock } from "../../base/clock.ts";
import { firstPositionAt } from "../../base/ids.ts";
import { type Followers, followers } from "../../db/followers.ts";
import type { Storage } from "../../db/storage.ts";
import { eventsAfter, newestPosition, newestStored } from "../../event/event.sql.ts";
import type { Event } from "../../event/event.ts";

/** An event in the feed. `seq` is the position to resume after. */
export interface EventEntry extends Event {
  readonly seq: number;
}

/** All stored events, ignored and unreadable ones too, in the order of commits. */
export interface EventFeed extends Followers<EventEntry> {
  /** The position before the first event received at `since` or later. */
  seqBefore(since: Date): Promise<number>;
}

export function eventFeed(
  storage: Storage,
  clock: Clock,
  onFollowers: (count: number) => void,
): EventFeed {
  const following = followers(
    {
      async newestSeq() {
        const [row] = await storage.all(newestPosition, {});
        return row?.position ?? 0;
      },
      async newestStored() {
        const [row] = await storage.all(newestStored, {});
        return row?.position ?? 0;
      },
      read: (range) => storage.all(eventsAfter, range),
    },
    clock,
    onFollowers,
  );
  return {
    ...following,
    async seqBefore(since) {
      return Math.min(await following.newestSeq(), firstPositionAt(since.getTime()) - 1);
    },
  };
}
