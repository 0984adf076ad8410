import { backgroundTask } from "../../base/background-task.ts";
import { write } from "../../db/statement.ts";
import type { Destination } from "../destination.ts";
import type { Target } from "../destinations/targets.ts";

import { attempt, type AttemptParts, isHalfOpen } from "./attempt.ts";
import { claimDue, nextDue } from "./delivery-queue.sql.ts";
import { tokenBucket } from "./token-bucket.ts";

/**
 * Sends the due deliveries of one destination: claim, send, record. A claim is a lease: if the process dies
 * meanwhile, the delivery is due again when the lease ends. So it may be sent twice, but is never lost.
 * Destinations have a queue each, so that none waits for another.
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
 * `target`: returns the destination as it is now; undefined once it was removed. `signal`: aborts what is being
 * sent.
 */
export function deliveryQueue(
  parts: AttemptParts,
  destinationId: Destination["id"],
  target: () => Target | undefined,
  signal: AbortSignal,
): DeliveryQueue {
  const { storage, clock, log } = parts;
  const inFlight = new Set<Promise<void>>();
  const bucket = tokenBucket(() => clock.now());
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
    const current = target();
    if (current === undefined || current.destination.state !== "active") return null;
    const { maxConcurrent, ratePerSecond } = current.destination;
    const now = clock.now();
    const isProbing = isHalfOpen(current.destination, now);
    const free = (isProbing ? 1 : maxConcurrent) - inFlight.size;
    if (free <= 0) return null;
    const limit = Math.min(free, bucket.available(ratePerSecond));
    if (limit === 0) return bucket.nextMs(ratePerSecond);
    const lease = {
      destinationId,
      now: new Date(now),
      leasedUntil: new Date(now + leaseMs),
      limit,
    };
    const [claimed] = await storage.atomically(write(claimDue, lease));
    bucket.take(claimed.rows.length);
    for (const delivery of claimed.rows) {
      const sent = attempt(parts, current, delivery, now, signal);
      inFlight.add(sent);
      void sent.finally(() => {
        inFlight.delete(sent);
        task.wake();
      });
    }
    if (claimed.rows.length === limit) {
      if (inFlight.size < maxConcurrent) task.wake();
      return null;
    }
    if (inFlight.size >= maxConcurrent) return null;
    const [next] = await storage.all(nextDue, { destinationId, after: new Date(clock.now()) });
    return next?.dueAt ? next.dueAt.getTime() - clock.now() : longestSleepMs;
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
