import { backgroundTask } from "../base/background-task.ts";
import type { Clock } from "../base/clock.ts";
import { timeOfPosition } from "../base/ids.ts";
import type { Storage } from "../db/storage.ts";
import { newestStored } from "../event/event.sql.ts";
import type { Log } from "../telemetry/log.ts";

import { type IndexedBatch, indexedUntil, indexEvents } from "./index-batch.ts";
import { positionAfter } from "./search-index.sql.ts";

/** Keeps the search index up to date, in the order of commits. Its progress is the last event that has words. */
export interface SearchIndex {
  start(): void;
  /** Stops after the current batch. The next start continues. */
  stop(): Promise<void>;
  /**
   * Resolves with true when all events are indexed that were stored before the call, by any instance, or with false
   * when that takes longer than `patienceMs`.
   */
  caughtUp(patienceMs?: number): Promise<boolean>;
  /** Resolves with true when the events up to a position are indexed, or with false when `goesOn` says no before. */
  has(position: number, goesOn: () => boolean): Promise<boolean>;
}

const intervalMs = 250;
/** The rest after a full batch. It does not depend on how long the batch took, which a busy host prolongs. */
const restMs = 20;
/** After a batch of a backlog, the follower rests for so many times as long, so that it takes a tenth of the writer's time. */
const restFactor = 9;
/** How long a search waits for the index. */
const longestWaitMs = 500;
/** How often a search looks whether other transactions have ended. */
const otherInstanceMs = 2;
/** More events than this are a backlog, for example those of a copy. */
const backlogSize = 10_000;
const reportMs = 10_000;

export function searchIndex(storage: Storage, clock: Clock, log: Log): SearchIndex {
  /** The batch under way: searches share it. */
  let batch: Promise<IndexedBatch> | null = null;
  let isBacklog = false;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function indexBatch(): Promise<IndexedBatch> {
    batch ??= indexEvents(storage).finally(() => (batch = null));
    return batch;
  }

  async function indexNextBatch(): Promise<number> {
    const startedMs = performance.now();
    try {
      const done = await indexBatch();
      if (done.hasMore) {
        await report(done);
        return isBacklog ? (performance.now() - startedMs) * restFactor : restMs;
      }
      if (isBacklog) log.info("search index built");
      isBacklog = false;
    } catch (error) {
      log.error({ err: error }, "failed to index events for search; retrying");
    }
    return intervalMs;
  }

  async function report({ until }: IndexedBatch): Promise<void> {
    if (clock.now() - reportedAt < reportMs) return;
    reportedAt = clock.now();
    const [behind] = await storage.all(positionAfter, { after: until, skip: backlogSize }, "long");
    isBacklog = behind !== undefined;
    if (isBacklog) {
      const indexed = timeOfPosition(until);
      log.info({ until: indexed }, "building the search index; newer events are not found yet");
    }
  }

  async function has(position: number, goesOn: () => boolean): Promise<boolean> {
    let until = await indexedUntil(storage);
    while (until < position) {
      if (!goesOn()) return false;
      const before = until;
      ({ until } = await indexBatch());
      if (until !== before) continue;
      const [newest] = await storage.all(newestStored, {});
      // It was deleted.
      if ((newest?.position ?? 0) < position) return true;
      // Another transaction, which began before the newest event, has not ended.
      await Bun.sleep(otherInstanceMs);
    }
    return true;
  }

  const task = backgroundTask(clock, indexNextBatch);

  return {
    start: () => task.start(intervalMs),
    stop: () => task.stop(),
    async caughtUp(patienceMs = longestWaitMs) {
      const deadline = performance.now() + patienceMs;
      const isLate = () => performance.now() >= deadline;
      const [newest] = await storage.all(newestStored, {});
      if (!(await has(newest?.position ?? 0, () => !isLate()))) return false;
      // What changed before the call, if the batch under way began earlier.
      for (;;) {
        await batch;
        if (!(await indexBatch()).hasMore) return true;
        if (isLate()) return false;
      }
    },
    has,
  };
}
