import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import { firstPositionAt } from "../../base/ids.ts";
import { ownTurns } from "../../base/own-turn.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event } from "../../event/event.ts";
import { deleteOldAudit } from "../../identity/audit/audit.sql.ts";
import { deleteRejectedBodies } from "../../inbound/rejections/rejections.sql.ts";
import { minuteOf, spansMinutes } from "../../inbound/webhook-count.ts";
import { deleteOldCounts } from "../../inbound/webhook-counts.sql.ts";
import { linesOf } from "../../outbound/deliveries.sql.ts";
import { nextInLine } from "../../outbound/delivery-order.sql.ts";
import type { Log } from "../../telemetry/log.ts";
import { deleteReplayFailures } from "../replays.sql.ts";

import {
  deleteAttemptsOf,
  deleteBodies,
  deleteDeliveriesOf,
  deleteExpiredKeys,
  deleteNotificationsOf,
  deleteSettledEvents,
  deleteWordsOf,
  eventsUntil,
  lockSettledEvents,
  settledEvents,
} from "./retention.sql.ts";

/** Events that retention is deleting, unless something still needs them. */
export interface DeletedEvents {
  readonly positions: readonly number[];
  readonly ids: readonly Event["id"][];
}

/** Deletes what other rooms keep of deleted events. */
export type AlsoDelete = (events: DeletedEvents) => readonly Write<unknown>[];

/** Retention periods, in days. */
export interface Retention {
  readonly eventDays: number;
  readonly bodyDays: number;
  readonly auditDays: number;
}

/** Stops after the current batch. */
type Pruner = Pick<BackgroundTask, "start" | "stop">;

/** Small batches, so that no delivery waits longer than a few milliseconds. */
const batchSize = 100;
const ownTurn = ownTurns();
const intervalMs = 60_000;
const dayMs = 86_400_000;
/** Charts show at most a month. */
const countDays = 31;
/** If the clock advances by this much more than the timer between two rounds, it jumped. */
const jumpMs = 3_600_000;
/** Pause after a jump, to leave time to correct a wrong clock. */
const afterJumpMs = 3_600_000;

/**
 * Deletes expired data: bodies, events with their notifications and attempts, audit entries, why events could
 * not be replayed, idempotency keys and counts of webhooks. Keeps events with undelivered or dead notifications. After
 * the clock jumps forward, everything looks expired, so nothing is deleted for an hour. Of rejected requests it
 * deletes only the bodies; each new rejection displaces the oldest (inbound/rejections/rejections.ts).
 */
export function pruner(
  storage: Storage,
  { eventDays, bodyDays, auditDays }: Retention,
  clock: Clock,
  log: Log,
  alsoDelete: AlsoDelete,
): Pruner {
  /** Up to this position, bodies are deleted already. */
  let bodiesDone = 0;
  /** Start time of the next round. */
  let nextRoundMs = 0;
  /** The signal of the running round. */
  let stopping = AbortSignal.abort();

  async function prune(): Promise<void> {
    const now = clock.now();
    // Concurrent, so that they share commits: under full load a batch waits as long as a delivery does, and
    // in sequence they would be slower than the data comes in.
    const ends = await Promise.allSettled([
      deleteBodiesUntil(bodiesUntil(now)),
      inBatches((limit) => write(deleteRejectedBodies, { until: bodiesUntil(now), limit })),
      deleteEvents(now),
      inBatches((limit) => write(deleteExpiredKeys, { now: new Date(now), limit })),
      inBatches((limit) => write(deleteOldAudit, { until: daysBefore(now, auditDays), limit })),
      inBatches((limit) => write(deleteReplayFailures, { until: expiredUntil(now), limit })),
      deleteCounts(now),
    ]);
    for (const end of ends) {
      if (end.status === "fulfilled") continue;
      log.error({ err: end.reason }, "failed to delete expired data; retrying");
    }
  }

  const daysBefore = (now: number, days: number) => new Date(now - days * dayMs);
  const bodiesUntil = (now: number) => daysBefore(now, bodyDays);
  /** The last position of that time. */
  const positionAt = (time: Date) => firstPositionAt(time.getTime() + 1) - 1;
  const expiredUntil = (now: number) => daysBefore(now, eventDays);

  async function deleteBodiesUntil(time: Date): Promise<void> {
    bodiesDone = await walk(bodiesDone, positionAt(time), ({ positions }) =>
      storage.atomically(write(deleteBodies, { positions })),
    );
  }

  async function deleteEvents(now: number): Promise<void> {
    await walk(0, positionAt(expiredUntil(now)), async (events) => {
      const settled = await storage.all(settledEvents, { positions: events.positions });
      if (settled.length === 0) return;
      const positions = settled.map(({ position }) => position);
      // Users' deliveries may still wait, for example while their destination is paused.
      const lines = await storage.all(linesOf, { events: positions });
      await storage.atomically(
        ...(storage.dialect === "postgres"
          ? [write(lockSettledEvents, { positions }, "stop")]
          : []),
        write(deleteSettledEvents, { positions }, "stop"),
        write(deleteAttemptsOf, { positions }),
        write(deleteDeliveriesOf, { positions }),
        write(deleteNotificationsOf, { positions }),
        write(deleteWordsOf, { positions }),
        ...alsoDelete(events),
        ...lines.flatMap((line) => nextInLine(line, new Date(now))),
      );
    });
  }

  /** Calls `act` for the events after a position, up to another, in batches. Returns the last position. */
  async function walk(
    from: number,
    until: number,
    act: (events: DeletedEvents) => Promise<unknown>,
  ): Promise<number> {
    let after = from;
    while (!stopping.aborted) {
      // Many events may be kept, for which nothing is written.
      await ownTurn();
      const found = await storage.all(eventsUntil, { after, until, limit: batchSize });
      const positions = found.map(({ position }) => position);
      if (found.length > 0) await act({ positions, ids: found.map(({ id }) => id) });
      after = positions.at(-1) ?? after;
      if (found.length < batchSize) break;
    }
    return after;
  }

  async function deleteCounts(now: number): Promise<void> {
    const before = minuteOf(now - countDays * dayMs);
    for (const spanMinutes of spansMinutes) {
      await inBatches((limit) => write(deleteOldCounts, { spanMinutes, before, limit }));
    }
  }

  /** Runs batches until one is not full. */
  async function inBatches(batch: (limit: number) => Write<never>): Promise<void> {
    while (!stopping.aborted) {
      const [done] = await storage.atomically(batch(batchSize));
      if (done.changes < batchSize) break;
    }
  }

  /** Returns the time until the next round. */
  function delay(ms: number): number {
    nextRoundMs = clock.now() + ms;
    return ms;
  }

  const task = backgroundTask(clock, async (signal) => {
    stopping = signal;
    if (clock.now() - nextRoundMs > jumpMs) {
      log.warn("clock jumped forward; retention paused for 1 h; check NTP");
      return delay(afterJumpMs);
    }
    await prune();
    return delay(intervalMs);
  });

  return { start: () => task.start(delay(intervalMs)), stop: () => task.stop() };
}
