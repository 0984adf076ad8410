import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { deleteOldAudit } from "../../identity/audit/audit.sql.ts";
import { minuteOf, spansMinutes } from "../../inbound/model/webhook-count.ts";
import { deleteOldCounts } from "../../inbound/model/webhook-counts.sql.ts";
import { deleteRejectedBodies } from "../../inbound/rejections/rejections.sql.ts";
import type { Log } from "../../telemetry/log.ts";
import { deleteReplayFailures } from "../replays.sql.ts";

import {
  type AlsoDelete,
  batchSize,
  deletingRows,
  lastPositionAt,
  walkOf,
} from "./delete-events.ts";
import { deletingWeeks } from "./delete-weeks.ts";
import { deleteBodies, deleteExpiredKeys } from "./retention.sql.ts";

/** The retention period of each kind of data, in days. */
export interface RetentionDays {
  readonly eventDays: number;
  readonly bodyDays: number;
  readonly auditDays: number;
}

/** The background task of `retention`. Stops after the current batch. */
interface Retention extends Pick<BackgroundTask, "start" | "stop"> {
  /** What is wrong if the last round failed, or does not end; null if all is well. */
  late(): string | null;
}

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
export function retention(
  storage: Storage,
  { eventDays, bodyDays, auditDays }: RetentionDays,
  clock: Clock,
  log: Log,
  alsoDelete: AlsoDelete,
): Retention {
  /** Up to this position, bodies are deleted already. */
  let bodiesDone = 0;
  /** Start time of the next round. */
  let nextRoundMs = 0;
  /** Start time of the round after the last one that deleted everything. */
  let wantedRoundMs = 0;
  /** The signal of the running round. */
  let stopping = AbortSignal.abort();

  const walk = walkOf(storage, () => stopping.aborted);
  const deleteEvents =
    storage.dialect === "postgres"
      ? deletingWeeks(storage, walk, log, alsoDelete)
      : deletingRows(storage, walk, alsoDelete);

  /** Returns whether all was deleted. */
  async function deleteExpired(): Promise<boolean> {
    const now = clock.now();
    // Concurrent, so that they share commits: under full load a batch waits as long as a delivery does, and
    // in sequence they would be slower than the data comes in.
    const deletingEvents = deleteEvents(expiredUntil(now), now);
    const ends = await Promise.allSettled([
      deletingEvents,
      // After a long stop, not the bodies of events that are deleted too: each costs more than its event.
      deletingEvents.catch(() => {}).then(() => deleteBodiesUntil(bodiesUntil(now))),
      inBatches((limit) => write(deleteRejectedBodies, { until: bodiesUntil(now), limit })),
      inBatches((limit) => write(deleteExpiredKeys, { now: new Date(now), limit })),
      inBatches((limit) => write(deleteOldAudit, { until: daysBefore(now, auditDays), limit })),
      inBatches((limit) => write(deleteReplayFailures, { until: expiredUntil(now), limit })),
      deleteCounts(now),
    ]);
    for (const end of ends) {
      if (end.status === "fulfilled") continue;
      log.error({ err: end.reason }, "failed to delete expired data; retrying");
    }
    return ends.every(({ status }) => status === "fulfilled");
  }

  const daysBefore = (now: number, days: number) => new Date(now - days * dayMs);
  const bodiesUntil = (now: number) => daysBefore(now, bodyDays);
  const expiredUntil = (now: number) => daysBefore(now, eventDays);

  async function deleteBodiesUntil(time: Date): Promise<void> {
    bodiesDone = await walk(bodiesDone, lastPositionAt(time), batchSize, (positions) =>
      storage.atomically(write(deleteBodies, { positions })),
    );
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
  function delay(ms: number, isWell = true): number {
    nextRoundMs = clock.now() + ms;
    if (isWell) wantedRoundMs = nextRoundMs;
    return ms;
  }

  const task = backgroundTask(clock, async (signal) => {
    stopping = signal;
    if (clock.now() - nextRoundMs > jumpMs) {
      log.warn("clock jumped forward; retention paused for 1 h; check NTP");
      return delay(afterJumpMs);
    }
    return delay(intervalMs, await deleteExpired());
  });

  return {
    start: () => task.start(delay(intervalMs)),
    stop: () => task.stop(),
    late: () =>
      clock.now() - wantedRoundMs > intervalMs ? "expired data was not deleted for minutes" : null,
  };
}
