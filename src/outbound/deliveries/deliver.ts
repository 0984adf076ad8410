import { backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { eventById } from "../../event/event.sql.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";
import { nextInLine } from "../delivery-order.sql.ts";
import {
  type Destination,
  goneReason,
  type Health,
  isSameHealth,
  nameInLogs,
} from "../destination.ts";
import { disableDestination, healthById } from "../destinations.sql.ts";
import type { Attempt } from "../notification.ts";
import { insertAttempt, summaryWrites } from "../notifications.sql.ts";

import { healthWrite, probeMs } from "./circuit.ts";
import {
  claimDue,
  type ClaimedDelivery,
  claimFirst,
  nextDue,
  notificationById,
  releaseDelivery,
  settleDelivery,
  takeProbe,
} from "./delivery-queue.sql.ts";
import type { CachedDestination } from "./destination-cache.ts";
import type { NotificationMetrics } from "./notification-metrics.ts";
import { type Claim, gone, isFinal, outcomeOf } from "./outcome.ts";
import { rateLimit } from "./rate-limit.ts";
import { type SendResult, sendTraced } from "./send.ts";

export interface DeliverParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: NotificationMetrics;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  /** In [0, 1). */
  readonly random: () => number;
  /** Called when the health of a destination has changed. */
  readonly onHealth: (id: Destination["id"], health: Health) => void;
  /** Called when a destination was disabled, by this attempt or another one. */
  readonly onDisabled: (id: Destination["id"]) => Promise<void>;
}

/** Sends the due deliveries of one destination. */
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
 * Sends the deliveries of one destination: claims what is due, unless the circuit, the rate or the number of
 * running deliveries forbids it; formats, signs and sends it; records the attempt and the outcome.
 * A claim is a lease: if the process dies meanwhile, the delivery is due again when the lease ends. So it may be
 * sent twice, but is never lost. Each destination has a queue of its own, so that none waits for another.
 * `cached`: returns the destination as it is now; undefined once it was removed. `signal`: aborts what is being
 * sent.
 */
export function deliveryQueue(
  parts: DeliverParts,
  destinationId: Destination["id"],
  cached: () => CachedDestination | undefined,
  signal: AbortSignal,
): DeliveryQueue {
  const { storage, clock, log } = parts;
  const inFlight = new Set<Promise<void>>();
  const rate = rateLimit(() => clock.now());
  const task = backgroundTask(clock, async () => {
    try {
      const sleepMs = await claimAndDeliver();
      return sleepMs === null ? null : Math.min(Math.max(sleepMs, 10), longestSleepMs);
    } catch (error) {
      log.error({ err: error }, "failed to read due deliveries; retrying");
      return 1_000;
    }
  });

  /** Returns how long to sleep; null if the end of a delivery wakes the queue. */
  async function claimAndDeliver(): Promise<number | null> {
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
    for (const delivery of claimed.rows) begin(current, delivery, now, false);
    if (claimed.rows.length === limit) {
      if (inFlight.size < maxConcurrent) task.wake();
      return null;
    }
    if (inFlight.size >= maxConcurrent) return null;
    const [next] = await storage.all(nextDue, { destinationId, after: new Date(clock.now()) });
    return next?.dueAt ? next.dueAt.getTime() - clock.now() : longestSleepMs;
  }

  /**
   * While the circuit is open, sends one delivery every 30 s, due or not, if something waits and no other
   * instance does so.
   */
  async function probe(current: CachedDestination, now: number): Promise<number> {
    const turn = { id: destinationId, now: new Date(now), openUntil: new Date(now + probeMs) };
    const lease = { destinationId, ...leaseFrom(now), limit: 1 };
    const [taken, claimed] = await storage.atomically(
      write(takeProbe, turn, "stop"),
      write(claimFirst, lease),
    );
    for (const delivery of claimed.rows) begin(current, delivery, now, true);
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

  function begin(to: CachedDestination, delivery: ClaimedDelivery, now: number, isProbe: boolean) {
    const onSend = to.destination.ratePerSecond === null ? () => {} : rate.take();
    const delivering = deliver(parts, to, { delivery, claimedMs: now, isProbe }, onSend, signal);
    inFlight.add(delivering);
    void delivering.finally(() => {
      onSend();
      inFlight.delete(delivering);
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

/** A larger difference between the clock and the time that passed is a jump of the clock. */
const leastJumpMs = 1_000;

/** Sends a delivery and records the outcome. `onSend`: called when it is sent. Never throws. */
async function deliver(
  parts: DeliverParts,
  to: CachedDestination,
  claim: Claim,
  onSend: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { storage, clock, log } = parts;
  const { notificationId, eventId, attemptCount } = claim.delivery;
  try {
    const [[event], [notification]] = await Promise.all([
      storage.all(eventById, { id: eventId }),
      storage.all(notificationById, { id: notificationId, eventId }),
    ]);
    if (event === undefined || notification === undefined) {
      throw new Error(`Notification ${notificationId} does not exist`);
    }
    const startedAt = new Date(clock.now());
    const startedMs = performance.now();
    onSend();
    const result = await sendTraced(parts, to.send, notification, event, attemptCount, signal);
    // Interrupted by the stop, which is not an error of the destination. The next start sends it again.
    if (signal.aborted && !result.delivered) return;
    // The clock may have been set back meanwhile, or have jumped forward: the attempt did not take that long.
    const tookMs = Math.ceil(performance.now() - startedMs);
    const elapsedMs = Math.max(0, clock.now() - startedAt.getTime());
    const durationMs = elapsedMs > tookMs + leastJumpMs ? tookMs : elapsedMs;
    await record(parts, to.destination, claim, { startedAt, durationMs, result });
  } catch (error) {
    // It is sent again when the lease ends.
    log.error({ id: notificationId, err: error }, "failed to record delivery; retrying");
  }
}

/** An attempt that was made. */
interface Made extends Pick<Attempt, "startedAt" | "durationMs"> {
  readonly result: SendResult;
}

/** Stores an attempt and what became of its delivery and its destination, in one transaction. */
async function record(
  { storage, clock, log, metrics, random, onHealth, onDisabled }: DeliverParts,
  destination: Destination,
  claim: Claim,
  { startedAt, durationMs, result }: Made,
): Promise<void> {
  const { delivery, claimedMs, isProbe } = claim;
  const { notificationId, destinationId, eventId, seq, leasedUntil, attemptCount } = delivery;
  const { delivered, responseStatus, error } = result;
  const now = clock.now();
  const outcome = outcomeOf(claim, result, now, random());
  const attempted = { notificationId, destinationId, startedAt, durationMs };
  const lease = { seq, leasedUntil };
  const isGone = responseStatus === gone;
  // The next delivery with the order key keeps its attempts if this one died without using up its own.
  const afterDead = !delivered && (delivery.afterDead || !isFinal(responseStatus));
  const results = await storage.atomically(
    healthWrite(destination, result, now, isProbe ? claimedMs : null),
    write(insertAttempt, { ...attempted, delivered, responseStatus, error }),
    write(settleDelivery, { ...lease, ...outcome, earlierAttempts: attemptCount }),
    // If it was rescheduled during the failed attempt, it is due at once.
    ...(delivered ? [] : [write(releaseDelivery, lease)]),
    ...(outcome.dueAt === null ? nextInLine(delivery, new Date(now), { afterDead }) : []),
    ...summaryWrites(eventId),
    ...(isGone ? [disabling(destination, now)] : []),
  );
  const [health] = results;
  metrics.attempted(destination, delivered ? "delivered" : "failed", durationMs / 1_000);
  const name = nameInLogs(destination);
  const fields = { id: notificationId, destination: name, attempt: outcome.attemptCount, error };
  if (!delivered) log.warn(fields, `notification ${outcome.status}`);
  const [changed] = health.rows;
  if (changed !== undefined) onHealth(destination.id, changed);
  if (!isGone) return;
  if (results.at(-1)?.changes === 1) {
    log.warn({ destination: name, reason: goneReason }, "destination disabled");
  }
  // Before the queue looks for more.
  await onDisabled(destination.id);
}

/** Changes nothing if the destination was changed since this attempt began: its address may be another one. */
function disabling({ id, updatedAt: before }: Destination, nowMs: number): Write<never> {
  const updatedAt = new Date(Math.max(nowMs, before.getTime() + 1));
  return write(disableDestination, { id, before, updatedAt });
}
