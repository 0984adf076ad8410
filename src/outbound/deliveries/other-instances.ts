import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import type { Signals } from "../../db/storage.ts";
import type { EventFeed } from "../notifications/event-feed.ts";
import type { Feed } from "../notifications/feed.ts";

/** What is woken when another process stored events or notifications. */
interface Followers {
  readonly feed: Pick<Feed, "newestSeq">;
  readonly eventFeed: Pick<EventFeed, "newestSeq">;
  /** Wakes all channels. */
  readonly wake: () => void;
  /** Called when polling finds new events or notifications. */
  readonly onNews: () => void;
}

/** The longest delay after a lost signal, for example if the sender dies after its commit. */
const lookIntervalMs = 2_000;

/**
 * Finds events and notifications that another process stored: an instance on the same database, or a command. Listens to
 * signals, if the database has them, and polls in case one is lost.
 */
export function otherInstances(
  signals: Signals | null,
  { feed, eventFeed, wake, onNews }: Followers,
  clock: Clock,
): Pick<BackgroundTask, "start" | "stop"> {
  let newest = "";
  const polling = backgroundTask(clock, async () => {
    try {
      const found = `${await feed.newestSeq()} ${await eventFeed.newestSeq()}`;
      if (found !== newest) {
        wake();
        onNews();
      }
      newest = found;
    } catch {
      // Followers report the error when they read. The next poll finds what this one missed.
    }
    return lookIntervalMs;
  });

  return {
    start() {
      signals?.listen("notifications", wake, wake);
      polling.start(lookIntervalMs);
    },
    stop: () => polling.stop(),
  };
}
