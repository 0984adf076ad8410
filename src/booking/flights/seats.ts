import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import { flightsByIds } from "./flights.sql.ts";
import type { Storage } from "../../db/storage.ts";

import type { Flight } from "../flight.ts";

/** How many seats a flight has left, after a booking or a cancellation changed it. */
export interface SeatsChange {
  readonly flightId: Flight["id"];
  readonly seatsAvailable: Flight["seatsAvailable"];
}

/** Tells who follows a flight when its seats are sold or given back. */
export interface Seats {
  /** Begins to hear of changes that other instances make. */
  start(): void;
  /** To be called after the commit; other instances are told too. Costs nothing where nobody follows. */
  changed(flightId: Flight["id"]): void;
  /**
   * Every new number of seats from now on, until the signal aborts or all followers are ended. A
   * follower that reads slowly skips what is outdated: only the newest number waits for it, so it
   * costs no memory.
   */
  follow(flightId: Flight["id"], signal: AbortSignal): AsyncGenerator<SeatsChange, void>;
  /** Tells all followers anew: of changes elsewhere, some may have gone unheard. */
  refresh(): void;
  /** Ends all followers. */
  close(): void;
}

interface Follower {
  latest: SeatsChange | null;
  /** The number that it was last told, or will be. */
  told: number | null;
  wake: () => void;
}

/** Many bookings of one flight are told as one change. */
const announceAfterMs = 20;

export function seats(storage: Storage, clock: Clock, log: Log): Seats {
  const followers = new Map<Flight["id"], Set<Follower>>();
  const changed = new Set<Flight["id"]>();
  let announceDue = false;
  let closed = false;

  function changedOne(flightId: Flight["id"]): void {
    if (!followers.has(flightId)) return;
    changed.add(flightId);
    if (announceDue) return;
    announceDue = true;
    clock.after(announceAfterMs, () => void announce());
  }

  /** One reading for all followers of all flights that changed. */
  async function announce(): Promise<void> {
    announceDue = false;
    const ids = [...changed];
    changed.clear();
    try {
      for (const { id, seatsAvailable } of await storage.all(flightsByIds, { ids })) {
        for (const follower of followers.get(id) ?? []) {
          if (follower.told === seatsAvailable) continue;
          follower.told = seatsAvailable;
          follower.latest = { flightId: id, seatsAvailable };
          follower.wake();
        }
      }
    } catch (error) {
      log.error({ err: error }, "seats could not be read for their followers");
    }
  }

  function joined(flightId: Flight["id"], follower: Follower): () => void {
    const others = followers.get(flightId) ?? new Set();
    followers.set(flightId, others.add(follower));
    return () => {
      if (others.delete(follower) && others.size === 0) followers.delete(flightId);
    };
  }

  async function* changes(
    follower: Follower,
    signal: AbortSignal,
    leave: () => void,
  ): AsyncGenerator<SeatsChange, void> {
    let woken = Promise.withResolvers<void>();
    follower.wake = () => woken.resolve();
    signal.addEventListener("abort", follower.wake, { once: true });
    try {
      while (!closed && !signal.aborted) {
        woken = Promise.withResolvers<void>();
        const { latest } = follower;
        follower.latest = null;
        if (latest === null) await woken.promise;
        else yield latest;
      }
    } finally {
      signal.removeEventListener("abort", follower.wake);
      leave();
    }
  }

  function refresh(): void {
    for (const flightId of followers.keys()) changedOne(flightId);
  }

  return {
    start() {
      storage.signals?.listen("seats", (flightIds) => flightIds.forEach(changedOne), refresh);
    },
    changed(flightId) {
      changedOne(flightId);
      storage.signals?.send("seats", flightId);
    },
    refresh,
    follow(flightId, signal) {
      // Joined before the first reading, so that nothing is missed between the two.
      const follower: Follower = { latest: null, told: null, wake: () => {} };
      const leave = joined(flightId, follower);
      // Also for one that is ended before its first reading.
      signal.addEventListener("abort", leave, { once: true });
      return changes(follower, signal, leave);
    },
    close() {
      closed = true;
      for (const others of followers.values()) for (const { wake } of others) wake();
    },
  };
}
