import { backgroundTask } from "../../base/background-task.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Destination, type Health, isSameHealth } from "../destination.ts";
import { destinationById } from "../destinations.sql.ts";

import { attempt, type AttemptParts, type Batch, type Ready } from "./attempt.ts";
import { probeMs } from "./circuit.ts";
import {
  claimDue,
  type ClaimedDelivery,
  claimFirst,
  nextDue,
  releasing,
  takeProbe,
} from "./delivery-queue.sql.ts";
import type { CachedDestination } from "./destination-cache.ts";
import { rateLimit } from "./rate-limit.ts";
import { readyFrom } from "./ready.ts";
import type { RecordAttempt } from "./record.ts";
import { tooLarge } from "./send.ts";

export interface DeliverParts extends AttemptParts {
  readonly storage: Storage;
  readonly log: Log;
  readonly record: RecordAttempt;
  /** Called when the health of a destination has changed. */
  readonly onHealth: (id: Destination["id"], health: Health) => void;
}

/** Sends the due deliveries of one destination. */
export interface DeliveryQueue {
  /** Looks for due deliveries soon. Cheap enough to call on every commit. */
  wake(): void;
  /** Claims nothing more, and waits for deliveries that are being sent. */
  stop(): Promise<void>;
}

/** Longer than two of the longest attempts. */
export const leaseMs = 30_000;
/** No attempt takes longer, from its beginning until it is recorded. A delivery with a shorter lease is not sent. */
const longestAttemptMs = 15_000;
/** The longest time between two looks at the database. */
const longestSleepMs = 30_000;
/** So many are claimed for each that is sent at the same time, because every claim is a commit. */
const claimsAhead = 4;
/** The most of one claim, whose events are then in memory. */
const maxClaimed = 1_000;
/** A destination that answers more slowly gets none ahead: another instance may send them earlier. */
const fastAttemptMs = 500;

/** How long a batch waits to be full unless the destination says otherwise. */
const usualBatchWaitMs = 1_000;

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
  /** Until they are recorded. */
  const underWay = new Set<Promise<void>>();
  /** How many of them wait for the answer of the destination. */
  let sending = 0;
  const rate = rateLimit(() => clock.now());
  /** Claimed, but not being sent yet. */
  let ready: Ready[] = [];
  /** The destination found larger batches too large. */
  let largestBatch = Number.POSITIVE_INFINITY;
  /** Whether something may be due that is not claimed. */
  let mayBeDue = true;
  /** When the database was to be looked at again, and how long the last attempt took. */
  let [lookAtMs, lastAttemptMs] = [0, Number.POSITIVE_INFINITY];
  let isStopping = false;
  const task = backgroundTask(clock, async () => {
    try {
      const sleepsMs = [await claimAndDeliver(), batchWaitMs()].filter((each) => each !== null);
      return sleepsMs.length === 0
        ? null
        : Math.min(Math.max(Math.min(...sleepsMs), 10), longestSleepMs);
    } catch (error) {
      log.error({ err: error }, "failed to read due deliveries; retrying");
      mayBeDue = true;
      return 1_000;
    }
  });

  /** Returns how long to sleep; null if the end of a delivery wakes the queue. */
  async function claimAndDeliver(): Promise<number | null> {
    const current = cached();
    const now = clock.now();
    const { openUntil = null } = current?.destination ?? {};
    const isActive = current?.destination.state === "active";
    if (!isActive || openUntil !== null || !leavesTime(ready, now)) await giveBack();
    if (current === undefined || !isActive) return null;
    if (openUntil !== null) {
      if (openUntil.getTime() > now) return openUntil.getTime() - now;
      return underWay.size > 0 ? null : probe(current, now);
    }
    const { maxConcurrent, ratePerSecond } = current.destination;
    sendReady(current);
    const free = maxConcurrent - sending;
    if (free <= 0 || underWay.size >= maxConcurrent * claimsAhead) return null;
    if (!mayBeDue && now < lookAtMs) return lookAtMs - now;
    const wanted = free * batchSize(current) - ready.length;
    const available = Math.min(rate.available(ratePerSecond), maxClaimed);
    const limit = Math.min(Math.max(wanted, ahead(current)), available);
    if (limit === 0) return rate.nextMs(ratePerSecond);
    mayBeDue = false;
    const [claimed] = await storage.atomically(
      write(claimDue, { destinationId, ...leaseFrom(now), limit }),
    );
    mayBeDue ||= claimed.rows.length === limit;
    await makeReady(claimed.rows, now, false);
    sendReady(current);
    if (sending >= maxConcurrent) return null;
    if (mayBeDue) {
      task.wake();
      return null;
    }
    const [next] = await storage.all(nextDue, { destinationId, after: new Date(clock.now()) });
    const sleepMs = next?.dueAt ? next.dueAt.getTime() - clock.now() : longestSleepMs;
    lookAtMs = clock.now() + Math.min(sleepMs, longestSleepMs);
    return sleepMs;
  }

  /** How many may be claimed beyond what can be sent now. None if something else decides what is sent next. */
  function ahead({ destination: { orderBy, ratePerSecond, maxConcurrent } }: CachedDestination) {
    const isFree = orderBy === null && ratePerSecond === null;
    return isFree && lastAttemptMs <= fastAttemptMs ? maxConcurrent * claimsAhead : 0;
  }

  async function makeReady(deliveries: readonly ClaimedDelivery[], now: number, isProbe: boolean) {
    if (deliveries.length === 0) return;
    ready.push(...(await readyFrom(parts, deliveries, { claimedMs: now, isProbe })));
    ready.sort((one, other) => Number(goesAlone(other)) - Number(goesAlone(one)));
  }

  function sendReady(to: CachedDestination): void {
    while (!isStopping && sending < to.destination.maxConcurrent && (batchWaitMs() ?? 0) <= 0) {
      const [first, ...others] = ready.splice(0, batchSize(to));
      if (first === undefined) return;
      begin(to, [first, ...others]);
    }
  }

  /** How many deliveries make up one message. One while it is uncertain whether the destination answers. */
  function batchSize({ destination: { batchMaxItems, failures } }: CachedDestination): number {
    const isAlone = failures > 0 || ready.slice(0, 1).some(goesAlone);
    return isAlone ? 1 : Math.max(1, Math.min(batchMaxItems ?? 1, largestBatch));
  }

  /** Milliseconds until the next batch is sent even if it is not full; null without a batch. */
  function batchWaitMs(): number | null {
    const current = cached();
    const [first] = ready;
    if (current === undefined || first === undefined) return null;
    if (sending >= current.destination.maxConcurrent) return null;
    if (ready.length >= batchSize(current)) return 0;
    const longestMs = current.destination.batchMaxWaitMs ?? usualBatchWaitMs;
    return first.claim.claimedMs + longestMs - clock.now();
  }

  /** Others may send what was claimed ahead. */
  async function giveBack(): Promise<void> {
    const leases = ready.map(({ claim }) => claim.delivery);
    ready = [];
    if (leases.length > 0) await storage.atomically(...releasing(leases));
    mayBeDue = true;
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
    await makeReady(claimed.rows, now, true);
    sendReady(current);
    // Without a turn, nothing waits, or this process missed a change.
    const [health] =
      taken.changes > 0 ? taken.rows : await storage.all(destinationById, { id: destinationId });
    if (health !== undefined && !isSameHealth(health, current.destination)) {
      parts.onHealth(destinationId, health);
    }
    return longestSleepMs;
  }

  function leaseFrom(now: number) {
    return { now: new Date(now), leasedUntil: new Date(now + leaseMs) };
  }

  function begin(to: CachedDestination, batch: Batch) {
    sending += 1;
    const delivering = deliver(to, batch);
    underWay.add(delivering);
    void delivering.finally(() => {
      underWay.delete(delivering);
      task.wake();
    });
  }

  /** Sends the deliveries of a message and records the outcome. Never throws. */
  async function deliver(to: CachedDestination, batch: Batch): Promise<void> {
    const onSend = to.destination.ratePerSecond === null ? () => {} : rate.take();
    const { id } = batch[0].notification;
    // It is sent again when the lease ends.
    const logged = (error: unknown) => {
      log.error({ id, err: error }, "failed to record delivery; retrying");
      return null;
    };
    const made = await attempt(parts, to, batch, onSend, signal).catch(logged);
    onSend();
    lastAttemptMs = made?.durationMs ?? Number.POSITIVE_INFINITY;
    const delivered = made?.result.delivered === true;
    if (made?.result.responseStatus === tooLarge && batch.length > 1)
      largestBatch = Math.floor(batch.length / 2);
    // A failed attempt keeps its place until it is recorded: it may open the circuit.
    if (delivered) {
      sending -= 1;
      task.wake();
    }
    if (made !== null) {
      const recorded = batch.map(({ claim }) => parts.record({ ...made, claim }));
      await Promise.all(recorded).catch(logged);
    }
    if (!delivered) sending -= 1;
    // Its retry, or the next one with its order key.
    if (!delivered || batch.some(({ claim }) => claim.delivery.orderKey !== null)) mayBeDue = true;
  }

  task.start(null);
  return {
    wake() {
      mayBeDue = true;
      task.wake();
    },
    async stop() {
      isStopping = true;
      // A running claim may still be answered.
      await task.stop();
      await giveBack().catch((error: unknown) => {
        log.error(
          { err: error },
          "failed to give deliveries back; they are sent when their lease ends",
        );
      });
      await Promise.all(underWay);
    },
  };
}

/** Whether what was claimed can be sent before its lease ends. Not if the clock was set back: others may have it. */
function leavesTime(ready: readonly Ready[], now: number): boolean {
  return ready.every(({ claim: { delivery } }) => {
    const leftMs = (delivery.leasedUntil?.getTime() ?? 0) - now;
    return leftMs >= longestAttemptMs && leftMs <= leaseMs;
  });
}

/**
 * It may be why an attempt failed, or it has one attempt only, which no other may fail. After an outage few have
 * attempts, because the circuit opens after ten failures.
 */
function goesAlone({ claim: { delivery } }: Ready): boolean {
  return delivery.attemptCount > 0 || delivery.afterDead;
}
