import { backgroundTask } from "../../base/background-task.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Destination, type Health, isSameHealth } from "../model/destination.ts";
import { destinationById } from "../model/destinations.sql.ts";

import { attempt, type AttemptParts, type Batch } from "./attempt.ts";
import { probeMs } from "./circuit.ts";
import {
  claimDue,
  type ClaimedDelivery,
  claimFirst,
  nextDue,
  releaseWrites,
  takeProbe,
} from "./delivery-queue.sql.ts";
import type { CachedDestination } from "./destination-cache.ts";
import { rateLimit } from "./rate-limit.ts";
import { readyFrom } from "./ready.ts";
import type { RecordAttempt } from "./record.ts";
import { sendBuffer } from "./send-buffer.ts";
import { contentTooLargeStatus } from "./send.ts";

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

/**
 * What the queue of a destination does next. It follows from the destination, from what is under way and from what was
 * claimed, so no mode is kept and none can be left out of step.
 */
type Mode =
  /** Removed, paused or disabled. What was claimed is given back; a change of the destination wakes the queue. */
  | { readonly name: "inactive" }
  /** The circuit is open until a time, or an attempt may still close it. What was claimed is given back. */
  | { readonly name: "suspended"; readonly sleepMs: number | null }
  /** The circuit is open, and it is time to see whether the destination answers again. */
  | { readonly name: "probing" }
  /** As many deliveries are under way as may be. The end of one wakes the queue. */
  | { readonly name: "busy" }
  /** Nothing is due, or the rate allows nothing, before a time. */
  | { readonly name: "resting"; readonly sleepMs: number }
  /** Something may be due. */
  | { readonly name: "claiming"; readonly limit: number };

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
  const ready = sendBuffer();
  const rate = rateLimit(() => clock.now());
  /** Until they are recorded. */
  const underWay = new Set<Promise<void>>();
  /** How many of them wait for the answer of the destination. */
  let sending = 0;
  /** Whether something may be due that is not claimed; if not, when the database is looked at again. */
  let [mayBeDue, lookAtMs] = [true, 0];
  let lastAttemptMs = Number.POSITIVE_INFINITY;
  let isStopping = false;
  const task = backgroundTask(clock, async () => {
    try {
      const sleepsMs = [await work(), batchWaitMs()].filter((each) => each !== null);
      return sleepsMs.length === 0
        ? null
        : Math.min(Math.max(Math.min(...sleepsMs), 10), longestSleepMs);
    } catch (error) {
      log.error({ err: error }, "failed to read due deliveries; retrying");
      mayBeDue = true;
      return 1_000;
    }
  });

  /** Returns how long to sleep; null if something else wakes the queue. */
  async function work(): Promise<number | null> {
    const current = cached();
    const now = clock.now();
    const maySend =
      current?.destination.state === "active" && current.destination.openUntil === null;
    // Others may have the leases of what was claimed if the clock was set back.
    if (!maySend || !ready.hasTime(now, longestAttemptMs, leaseMs)) await giveBack();
    if (current === undefined) return null;
    if (maySend) sendReady(current);
    const mode = modeOf(current, now);
    switch (mode.name) {
      case "inactive":
      case "busy":
        return null;
      case "suspended":
      case "resting":
        return mode.sleepMs;
      case "probing":
        return probe(current, now);
      case "claiming":
        return claim(current, now, mode.limit);
    }
  }

  function modeOf(current: CachedDestination, now: number): Mode {
    const { state, openUntil, maxConcurrent, ratePerSecond } = current.destination;
    if (state !== "active") return { name: "inactive" };
    if (openUntil !== null) {
      if (openUntil.getTime() > now) {
        return { name: "suspended", sleepMs: openUntil.getTime() - now };
      }
      return underWay.size > 0 ? { name: "suspended", sleepMs: null } : { name: "probing" };
    }
    const free = maxConcurrent - sending;
    if (free <= 0 || underWay.size >= maxConcurrent * claimsAhead) return { name: "busy" };
    if (!mayBeDue && now < lookAtMs) return { name: "resting", sleepMs: lookAtMs - now };
    const wanted = free * ready.messageSize(current) - ready.count();
    const available = Math.min(rate.available(ratePerSecond), maxClaimed);
    const limit = Math.min(Math.max(wanted, ahead(current)), available);
    return limit === 0
      ? { name: "resting", sleepMs: rate.nextMs(ratePerSecond) }
      : { name: "claiming", limit };
  }

  async function claim(
    current: CachedDestination,
    now: number,
    limit: number,
  ): Promise<number | null> {
    const { number, maxConcurrent } = current.destination;
    mayBeDue = false;
    const [found] = await storage.atomically(
      write(claimDue, { destination: number, ...leaseFrom(now), limit }),
    );
    mayBeDue ||= found.rows.length === limit;
    await makeReady(found.rows, now, false);
    sendReady(current);
    if (sending >= maxConcurrent) return null;
    if (mayBeDue) {
      task.wake();
      return null;
    }
    const after = new Date(clock.now());
    const [next] = await storage.all(nextDue, { destination: number, after });
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
    ready.add(await readyFrom(parts, deliveries, { claimedMs: now, isProbe }));
  }

  function sendReady(to: CachedDestination): void {
    while (!isStopping && sending < to.destination.maxConcurrent) {
      const batch = ready.next(to, clock.now());
      if (batch === null) return;
      begin(to, batch);
    }
  }

  /** Milliseconds until the next batch is sent even if it is not full; null without a batch, or if the queue is busy. */
  function batchWaitMs(): number | null {
    const current = cached();
    if (current === undefined || sending >= current.destination.maxConcurrent) return null;
    return ready.waitMs(current, clock.now());
  }

  /** Others may send what was claimed ahead. */
  async function giveBack(): Promise<void> {
    const leases = ready.takeAll().map(({ claim: { delivery } }) => delivery);
    if (leases.length > 0) await storage.atomically(...releaseWrites(leases));
    mayBeDue = true;
  }

  /**
   * While the circuit is open, sends one delivery every 30 s, due or not, if something waits and no other
   * instance does so.
   */
  async function probe(current: CachedDestination, now: number): Promise<number> {
    const turn = { id: destinationId, now: new Date(now), openUntil: new Date(now + probeMs) };
    const lease = { destination: current.destination.number, ...leaseFrom(now), limit: 1 };
    const [taken, first] = await storage.atomically(
      write(takeProbe, turn, "stop"),
      write(claimFirst, lease),
    );
    await makeReady(first.rows, now, true);
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
    if (made?.result.responseStatus === contentTooLargeStatus && batch.length > 1) {
      ready.wasTooLarge(batch.length);
    }
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
