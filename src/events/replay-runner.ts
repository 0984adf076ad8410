import { type BackgroundTask, backgroundTask } from "../base/background-task.ts";
import { type Clock, pause } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { type Write, write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import type { Event } from "../event/event.ts";
import { reinterpretEvent } from "../event/events.sql.ts";
import type { Outbox } from "../outbound/deliveries/outbox.ts";
import type { Log } from "../telemetry/log.ts";

import { changesBetween, type EventReplay, isForUndelivered } from "./event-replay.ts";
import { eventsToReplay, needsIndexToReplay } from "./replay-source.ts";
import {
  maxReplayFailures,
  noReplayCounts,
  type ReplayCounts,
  type StoredReplay,
} from "./replay.ts";
import {
  advanceReplay,
  claimReplay,
  finishReplay,
  insertReplayFailure,
  type Progress,
  releaseReplay,
  releaseReplays,
  runningReplay,
} from "./replays.sql.ts";
import type { SearchIndex } from "./search-index.ts";

/** Carries out the running replay, in one process at a time. Stops after the current event; the next start continues. */
interface ReplayRunner extends Pick<BackgroundTask, "wake" | "stop"> {
  start(): Promise<void>;
}

interface Parts {
  readonly storage: Storage;
  readonly outbox: Pick<Outbox, "committed">;
  readonly index: Pick<SearchIndex, "caughtUp">;
  readonly replaying: EventReplay;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often an instance looks for a replay that another one started, or left. */
const lookIntervalMs = 5_000;
const leaseMs = 30_000;
const pageSize = 100;
const maxErrorLength = 500;

/** The replay was stopped, or another process continues it. */
const lost = new AppError("unavailable", "The replay was stopped");
const gone = new AppError("not-found", "The event was deleted");

export function replayRunner(parts: Parts): ReplayRunner {
  const { storage, outbox, index, replaying, clock, log } = parts;
  const leasedBy = crypto.randomUUID();
  /** Events of the held replay that failed. */
  let failed = 0;

  async function replay(run: StoredReplay, signal: AbortSignal): Promise<void> {
    // In a copy of the database, the index is built again. Until then, the replay waits.
    if (needsIndexToReplay(run.filters) && !(await index.caughtUp())) return;
    const source = await eventsToReplay(storage, run.filters);
    const { positionAt, positionId } = run;
    let from = positionAt === null ? null : { createdAt: positionAt, id: positionId };
    const intervalMs = 1_000 / run.ratePerSecond;
    let dueAt = clock.now();
    for (;;) {
      const events = await source.read({ order: "oldest-first", from, offset: 0, limit: pageSize });
      for (const event of events) {
        const now = clock.now();
        // After a pause of the process, events do not catch up. After the clock was set back, they do not wait for it.
        dueAt = Math.min(Math.max(dueAt, now), now + intervalMs);
        await pause(clock, dueAt - now, signal);
        if (signal.aborted) return;
        await replayOne(run, event);
        dueAt += intervalMs;
        from = { createdAt: event.createdAt, id: event.id };
      }
      if (events.length < pageSize) break;
    }
    const finish = { id: run.id, leasedBy, updatedAt: new Date(clock.now()) };
    await storage.atomically(write(finishReplay, finish, lost));
    log.info({ id: run.id }, "bulk replay finished");
  }

  /** Replays an event and counts it in one transaction, so that a crash neither repeats nor skips it. */
  async function replayOne(run: StoredReplay, event: Event): Promise<void> {
    try {
      // Its failed notifications may have been delivered since the event was chosen.
      const prepared = await replaying.prepare(event, isForUndelivered(run.filters));
      const changed = changesBetween(event, prepared.event).length > 0 ? 1 : 0;
      await storage.atomically(
        write(advanceReplay, progress(run, event, { [prepared.outcome]: 1, changed }), lost),
        write(reinterpretEvent, prepared.event, gone),
        ...prepared.notifying,
      );
      outbox.committed(prepared.event);
    } catch (error) {
      // The database, or the end of this run: the event stays the next one.
      if (error === lost || (error instanceof AppError && error.code === "unavailable"))
        throw error;
      if (error === gone) {
        await storage.atomically(write(advanceReplay, progress(run, event, { deleted: 1 }), lost));
        return;
      }
      log.error({ err: error, id: event.id }, "failed to replay an event");
      await storage.atomically(...failure(run, event, String(error).slice(0, maxErrorLength)));
      failed += 1;
    }
  }

  function failure(run: StoredReplay, event: Event, error: string): Write<unknown>[] {
    const { id } = event;
    const counted = progress(run, event, { failed: 1 }, `${id}: ${error}`);
    const row = { replayId: run.id, id, createdAt: counted.updatedAt, error };
    return [
      write(advanceReplay, counted, lost),
      ...(failed < maxReplayFailures ? [write(insertReplayFailure, row)] : []),
    ];
  }

  function progress(
    { id }: StoredReplay,
    event: Event,
    counts: Partial<ReplayCounts>,
    lastError: string | null = null,
  ): Progress {
    const now = clock.now();
    return {
      ...noReplayCounts,
      ...counts,
      id,
      leasedBy,
      leasedUntil: new Date(now + leaseMs),
      updatedAt: new Date(now),
      positionAt: event.createdAt,
      positionId: event.id,
      lastError: lastError?.slice(0, maxErrorLength) ?? null,
    };
  }

  async function look(signal: AbortSignal): Promise<void> {
    try {
      const [run] = await storage.all(runningReplay, {});
      if (run === undefined || signal.aborted) return;
      const now = clock.now();
      const leasedUntil = new Date(now + leaseMs);
      const claim = { id: run.id, leasedBy, leasedUntil, latest: leasedUntil, now: new Date(now) };
      const [claimed] = await storage.atomically(write(claimReplay, claim));
      if (claimed.changes === 0) return;
      // Read again: another process may have moved it since.
      const [held] = await storage.all(runningReplay, {});
      if (held?.leasedBy !== leasedBy) return;
      failed = held.failed;
      try {
        await replay(held, signal);
      } finally {
        await storage.atomically(write(releaseReplay, { id: run.id, leasedBy }));
      }
    } catch (error) {
      if (error !== lost) log.error({ err: error }, "bulk replay interrupted; retrying");
    }
  }

  const task = backgroundTask(clock, async (signal) => {
    await look(signal);
    return lookIntervalMs;
  });

  return {
    ...task,
    async start() {
      if (storage.signals === null) await storage.atomically(write(releaseReplays, {}));
      task.start();
    },
  };
}
