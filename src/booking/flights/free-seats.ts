import type { Clock } from "../../base/clock.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Flight, FlightView } from "../model/flight.ts";

import { flightView } from "./flight-view.ts";
import { flightsByIds } from "./flights.sql.ts";

/** Publishes the number of seats left on a flight to its followers. */
export interface FreeSeats {
  /** Starts to receive changes from other instances. */
  start(): void;
  /** Call after the commit. Notifies other instances too. Does not read the flight unless it has followers. */
  changed(flightId: Flight["id"]): void;
  /**
   * Yields the flight with every new number of seats until the signal aborts or `close` is called. A slow reader
   * receives only the newest one, so that nothing queues up in memory.
   */
  follow(flightId: Flight["id"], signal: AbortSignal): AsyncGenerator<FlightView, void>;
  /** Reads the seats of all followed flights again, because changes from other instances may have been missed. */
  refresh(): void;
  /** Ends all followers. */
  close(): void;
}

interface Follower {
  latest: FlightView | null;
  /** The last number that was sent or is about to be sent. */
  lastSeats: number | null;
  wake: () => void;
}

/** Changes within this time are published as one. */
const publishAfterMs = 20;

export function freeSeats(storage: Storage, clock: Clock, log: Log): FreeSeats {
  const followers = new Map<Flight["id"], Set<Follower>>();
  const changed = new Set<Flight["id"]>();
  let publishDue = false;
  let closed = false;

  function changedOne(flightId: Flight["id"]): void {
    if (!followers.has(flightId)) return;
    changed.add(flightId);
    if (publishDue) return;
    publishDue = true;
    clock.after(publishAfterMs, () => void publish());
  }

  /** Reads all changed flights with one query. */
  async function publish(): Promise<void> {
    publishDue = false;
    const ids = [...changed];
    changed.clear();
    try {
      for (const flight of await storage.all(flightsByIds, { ids })) {
        const view = flightView(flight);
        for (const follower of followers.get(view.id) ?? []) {
          if (follower.lastSeats === view.seatsAvailable) continue;
          follower.lastSeats = view.seatsAvailable;
          follower.latest = view;
          follower.wake();
        }
      }
    } catch (error) {
      log.error({ err: error }, "failed to read seats for followers");
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
  ): AsyncGenerator<FlightView, void> {
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
      // Join now, not when the generator first runs, so that no change in between is missed.
      const follower: Follower = { latest: null, lastSeats: null, wake: () => {} };
      const leave = joined(flightId, follower);
      // A generator that never runs does not reach its `finally`.
      signal.addEventListener("abort", leave, { once: true });
      return changes(follower, signal, leave);
    },
    close() {
      closed = true;
      for (const others of followers.values()) for (const { wake } of others) wake();
    },
  };
}
