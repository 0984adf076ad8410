import type { Cancel, Clock } from "../../base/clock.ts";
import type { Signals } from "../../db/storage.ts";

import type { Feed } from "./channels/feed.ts";

/** What is told when another instance on the same database did something. */
interface Followers {
  readonly feed: Pick<Feed, "newestSeq">;
  /** Wakes all channels: there may be something new. */
  readonly wake: () => void;
  /** Called when a look finds notifications that came since the last one. */
  readonly onNews: () => void;
}

/** A signal that is lost, as when its sender dies after its commit, delays news by this much at most. */
const lookIntervalMs = 2_000;

/** Hears from the other instances on the same database, and looks for what they could not tell. */
export function otherInstances(
  signals: Signals,
  { feed, wake, onNews }: Followers,
  clock: Clock,
): { start(): void; stop(): void } {
  let stopped = true;
  let newest = 0;
  let cancel: Cancel = () => {};

  async function look(): Promise<void> {
    try {
      const seq = await feed.newestSeq();
      if (seq !== newest) {
        wake();
        onNews();
      }
      newest = seq;
    } catch {
      // Whoever follows is told by its own reading; the next look finds what this one could not.
    }
    lookLater();
  }

  function lookLater(): void {
    if (!stopped) cancel = clock.after(lookIntervalMs, () => void look());
  }

  return {
    start() {
      stopped = false;
      signals.listen("notifications", wake, wake);
      lookLater();
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
