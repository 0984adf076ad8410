import type { Cancel, Clock } from "../../base/clock.ts";
import type { Event } from "../event.ts";
import type { Log } from "../../telemetry/log.ts";
import { minuteOf, spansMinutes } from "../delivery-count.ts";
import {
  deleteAttemptsOf,
  deleteExpiredKeys,
  deleteNotificationsOf,
  deleteSettledEvent,
  eventsUntil,
  forgetBody,
  holdSettledEvent,
} from "./retention.sql.ts";
import { deleteRejectedBodies } from "../diagnosis/rejections.sql.ts";
import { deleteOldCounts } from "../statistics/statistics.sql.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

/** How long things are kept. */
export interface Retention {
  readonly eventDays: number;
  readonly bodyDays: number;
}

export interface Pruner {
  start(): void;
  /** Ends after the batch under way. */
  stop(): Promise<void>;
}

/** So few at a time that no delivery waits for longer than a few milliseconds. */
const batchSize = 100;
const intervalMs = 60_000;
const dayMs = 86_400_000;
/** A month and its last day again: charts look no further back. */
const countDays = 31;
/** Between two rounds the clock cannot truly go on by this much more than our timer does. */
const leapMs = 3_600_000;
/** How long nothing is deleted after a leap: the time to put a wrong clock right. */
const afterLeapMs = 3_600_000;

/**
 * Forgets what has been kept long enough: bodies, then events with all that belongs to them,
 * idempotency keys and delivery counts. An event stays while a notification of it waits or was given up. When the clock leaps
 * ahead, everything looks old at once: then nothing is deleted for an hour. Of refused deliveries only the
 * bodies are forgotten here: each one that comes pushes the oldest out (webhooks/rejections.ts).
 */
export function pruner(
  storage: Storage,
  { eventDays, bodyDays }: Retention,
  clock: Clock,
  log: Log,
): Pruner {
  let stopped = true;
  let cancel: Cancel = () => {};
  let round: Promise<void> = Promise.resolve();
  // Bodies before this place are gone already, or were when this process began to look.
  let bodiesDone: Place = start;
  /** When the next round is to begin. */
  let nextRoundMs = 0;

  async function prune(): Promise<void> {
    const now = clock.now();
    // Together, so that they share commits: under full load a batch waits as long as a delivery does,
    // and one after the other they would not keep up with what comes in.
    const ends = await Promise.allSettled([
      forgetBodies(now),
      inBatches((limit) => write(deleteRejectedBodies, { until: bodiesUntil(now), limit })),
      deleteEvents(now),
      inBatches((limit) => write(deleteExpiredKeys, { now: new Date(now), limit })),
      deleteCounts(now),
    ]);
    for (const end of ends) {
      if (end.status === "fulfilled") continue;
      log.error({ err: end.reason }, "what is past its time could not be deleted; trying again");
    }
    if (!stopped) schedule(intervalMs);
  }

  function schedule(delayMs: number): void {
    nextRoundMs = clock.now() + delayMs;
    cancel = clock.after(delayMs, begin);
  }

  const bodiesUntil = (now: number) => new Date(now - bodyDays * dayMs);

  async function forgetBodies(now: number): Promise<void> {
    const until = bodiesUntil(now);
    // The clock was put back: the place that we came to was never so far.
    if (until < bodiesDone.createdAt) bodiesDone = start;
    bodiesDone = await walk(bodiesDone, until, (id) =>
      storage.atomically(write(forgetBody, { id })),
    );
  }

  async function deleteEvents(now: number): Promise<void> {
    await walk(start, new Date(now - eventDays * dayMs), (eventId) =>
      storage.atomically(
        write(holdSettledEvent, { id: eventId }, "stop"),
        write(deleteSettledEvent, { id: eventId }, "stop"),
        write(deleteAttemptsOf, { eventId }),
        write(deleteNotificationsOf, { eventId }),
      ),
    );
  }

  /** Does something to each event up to a time, batch by batch; how far it came. */
  async function walk(
    from: Place,
    until: Date,
    act: (id: Event["id"]) => Promise<unknown>,
  ): Promise<Place> {
    let place = from;
    while (!stopped) {
      const { createdAt: afterTime, id: afterId } = place;
      const found = await storage.all(eventsUntil, { afterTime, afterId, until, limit: batchSize });
      await Promise.all(found.map(({ id }) => act(id)));
      place = found.at(-1) ?? place;
      if (found.length < batchSize) break;
    }
    return place;
  }

  async function deleteCounts(now: number): Promise<void> {
    const before = minuteOf(now - countDays * dayMs);
    for (const spanMinutes of spansMinutes) {
      await inBatches((limit) => write(deleteOldCounts, { spanMinutes, before, limit }));
    }
  }

  /** Does it batch by batch until nothing is left to do. */
  async function inBatches(batch: (limit: number) => Write<never>): Promise<void> {
    while (!stopped) {
      const [done] = await storage.atomically(batch(batchSize));
      if (done.changes < batchSize) break;
    }
  }

  function begin(): void {
    if (clock.now() - nextRoundMs > leapMs) {
      log.warn(
        "the clock leapt ahead: nothing is deleted for an hour; if it is wrong, put it right",
      );
      schedule(afterLeapMs);
      return;
    }
    round = prune();
  }

  return {
    start() {
      stopped = false;
      schedule(intervalMs);
    },
    async stop() {
      stopped = true;
      cancel();
      await round;
    },
  };
}

/** A place in the order of events. */
interface Place {
  readonly createdAt: Date;
  readonly id: string;
}
const start: Place = { createdAt: new Date(0), id: "" };
