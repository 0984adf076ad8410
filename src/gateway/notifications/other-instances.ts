import type { Cancel, Clock } from "../../base/clock.ts";
import type { Signals } from "../../db/storage.ts";

import type { Feed } from "./channels/feed.ts";

/** What is woken when another instance on the same database stored notifications. */
interface Followers {
  readonly feed: Pick<Feed, "newestSeq">;
  /** Wakes all channels. */
  readonly wake: () => void;
  /** Called when polling finds new notifications. */
  readonly onNews: () => void;
}

/** The longest delay after a lost signal, for example if the sender dies after its commit. */
const lookIntervalMs = 2_000;

/** Listens to signals from other instances on the same database, and polls in case a signal is lost. */
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
      // Followers report the error when they read. The next poll finds what this one missed.
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
