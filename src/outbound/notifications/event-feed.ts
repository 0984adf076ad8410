import type { Clock } from "../../base/clock.ts";
import { type Followers, followers } from "../../db/followers.ts";
import type { Storage } from "../../db/storage.ts";
import { eventsAfter, newestEventSeq, seqsSince } from "../../event/event.sql.ts";
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

/**
 * How many events after a time are compared to find the first committed one. Events are committed in almost
 * the order of receipt.
 */
const maxCompared = 1_000;

export function eventFeed(
  storage: Storage,
  clock: Clock,
  onFollowers: (count: number) => void,
): EventFeed {
  const following = followers(
    {
      async newestSeq() {
        const [row] = await storage.all(newestEventSeq, {});
        return row?.seq ?? 0;
      },
      read: (range) => storage.all(eventsAfter, range),
    },
    clock,
    onFollowers,
  );
  return {
    ...following,
    async seqBefore(since) {
      const newest = await following.newestSeq();
      const rows = await storage.all(seqsSince, { since, limit: maxCompared });
      return Math.min(newest, ...rows.map(({ seq }) => seq - 1));
    },
  };
}
