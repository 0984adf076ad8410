import type { Cancel, Clock } from "../../base/clock.ts";
import type { Seats } from "../../booking/flights/seats.ts";
import type { Signals } from "../../db/storage.ts";

import type { Feed } from "./channels/feed.ts";

/** What is told when another instance on the same database did something. */
interface Followers {
  readonly feed: Pick<Feed, "newestSeq">;
  readonly seats: Pick<Seats, "changed" | "refresh">;
  /** Wakes all channels: there may be something new. */
  readonly wake: () => void;
}

/** A signal that is lost, as when its sender dies after its commit, delays news by this much at most. */
const lookIntervalMs = 2_000;

/** Hears from the other instances on the same database, and looks for what they could not tell. */
export function otherInstances(
  signals: Signals,
  { feed, seats, wake }: Followers,
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
        // Whoever sells or gives back seats notifies of it.
        seats.refresh();
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
      signals.listen(
        "seats",
        (flightIds) => flightIds.forEach((id) => seats.changed(id)),
        () => seats.refresh(),
      );
      lookLater();
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
