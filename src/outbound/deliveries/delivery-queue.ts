import { backgroundTask } from "../../base/background-task.ts";
import { write } from "../../db/statement.ts";
import { type Destination, isSameHealth } from "../destination.ts";
import { healthById } from "../destinations.sql.ts";

import { attempt, type AttemptParts } from "./attempt.ts";
import { probeMs } from "./circuit.ts";
import {
  claimDue,
  type ClaimedDelivery,
  claimFirst,
  nextDue,
  takeProbe,
} from "./delivery-queue.sql.ts";
import type { CachedDestination } from "./destination-cache.ts";
import { rateLimit } from "./rate-limit.ts";

/**
 * Sends the due deliveries of one destination: claim, send, record. A claim is a lease: if the process dies
 * meanwhile, the delivery is due again when the lease ends. So it may be sent twice, but is never lost.
 * Destinations have a queue each, so that none waits for another. While the circuit of a destination is open,
 * its queue claims one delivery every 30 s, the probe.
 */
export interface DeliveryQueue {
  /** Looks for due deliveries soon. Cheap enough to call on every commit. */
  wake(): void;
  /** Claims nothing more, and waits for deliveries that are being sent. */
  stop(): Promise<void>;
}

/** Longer than the longest attempt. */
export const leaseMs = 30_000;
/** The longest time between two looks at the database. */
const longestSleepMs = 30_000;

/**
 * `cached`: returns the destination as it is now; undefined once it was removed. `signal`: aborts what is being
 * sent.
 */
export function deliveryQueue(
  parts: AttemptParts,
  destinationId: Destination["id"],
  cached: () => CachedDestination | undefined,
  signal: AbortSignal,
): DeliveryQueue {
  const { storage, clock, log } = parts;
  const inFlight = new Set<Promise<void>>();
  const rate = rateLimit(() => clock.now());
  const task = backgroundTask(clock, async () => {
    try {
      const sleepMs = await claimAndSend();
      return sleepMs === null ? null : Math.min(Math.max(sleepMs, 10), longestSleepMs);
    } catch (error) {
      log.error({ err: error }, "failed to read due deliveries; retrying");
      return 1_000;
    }
  });

  /** Returns how long to sleep; null if the end of a delivery wakes the queue. */
  async function claimAndSend(): Promise<number | null> {
    const current = cached();
    if (current === undefined || current.destination.state !== "active") return null;
    const { maxConcurrent, ratePerSecond, openUntil } = current.destination;
    const now = clock.now();
    if (openUntil !== null && openUntil.getTime() > now) return openUntil.getTime() - now;
    const isProbe = openUntil !== null;
    const free = (isProbe ? 1 : maxConcurrent) - inFlight.size;
    if (free <= 0) return null;
    const limit = Math.min(free, rate.available(ratePerSecond));
    if (limit === 0) return rate.nextMs(ratePerSecond);
    if (isProbe) return probe(current, now);
    const lease = { destinationId, ...leaseFrom(now), limit };
    const [claimed] = await storage.atomically(write(claimDue, lease));
    for (const delivery of claimed.rows) send(current, delivery, now, false);
    if (claimed.rows.length === limit) {
      if (inFlight.size < maxConcurrent) task.wake();
      return null;
    }
    if (inFlight.size >= maxConcurrent) return null;
    const [next] = await storage.all(nextDue, { destinationId, after: new Date(clock.now()) });
    return next?.dueAt ? next.dueAt.getTime() - clock.now() : longestSleepMs;
  }

  /** Sends one delivery, due or not, if something waits and no other instance does so. */
  async function probe(current: CachedDestination, now: number): Promise<number> {
    const turn = { id: destinationId, now: new Date(now), openUntil: new Date(now + probeMs) };
    const lease = { destinationId, ...leaseFrom(now), limit: 1 };
    const [taken, claimed] = await storage.atomically(
      write(takeProbe, turn, "stop"),
      write(claimFirst, lease),
    );
    for (const delivery of claimed.rows) send(current, delivery, now, true);
    // Without a turn, nothing waits, or this process missed a change.
    const [health] =
      taken.changes > 0 ? taken.rows : await storage.all(healthById, { id: destinationId });
    if (health !== undefined && !isSameHealth(health, current.destination)) {
      parts.onHealth(destinationId, health);
    }
    return longestSleepMs;
  }

  function leaseFrom(now: number) {
    return { now: new Date(now), leasedUntil: new Date(now + leaseMs) };
  }

  function send(
    current: CachedDestination,
    delivery: ClaimedDelivery,
    now: number,
    isProbe: boolean,
  ): void {
    const onSend = current.destination.ratePerSecond === null ? () => {} : rate.take();
    const claim = { delivery, claimedMs: now, isProbe, onSend };
    const sent = attempt(parts, current, claim, signal);
    inFlight.add(sent);
    void sent.finally(() => {
      onSend();
      inFlight.delete(sent);
      task.wake();
    });
  }

  task.start(null);
  return {
    wake: () => task.wake(),
    async stop() {
      // A running claim may still add deliveries.
      await task.stop();
      await Promise.all(inFlight);
    },
  };
}
