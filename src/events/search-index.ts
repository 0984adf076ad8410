import { backgroundTask } from "../base/background-task.ts";
import type { Clock } from "../base/clock.ts";
import { write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import type { Event } from "../event/event.ts";
import type { Log } from "../telemetry/log.ts";

import {
  indexQueued,
  newestQueued,
  notIndexedOf,
  oldestQueued,
  queuedCount,
} from "./event-search.sql.ts";

/**
 * Keeps the search index up to date. Events are queued in their own transaction and indexed after it, newest
 * first: new events do not wait for those of earlier versions, which a migration queues all at once.
 */
export interface SearchIndex {
  start(): void;
  /** Stops after the current batch. The queue is in the database, so the next start continues. */
  stop(): Promise<void>;
  /**
   * Resolves with true when all events are indexed that were queued before the call, by any instance, or with false
   * when that takes longer than `patienceMs`.
   */
  caughtUp(patienceMs?: number): Promise<boolean>;
  /** Resolves with true when these events are indexed or deleted, or with false when `goesOn` says no before. */
  has(ids: readonly Event["id"][], goesOn: () => boolean): Promise<boolean>;
}

/** Small batches, so that no delivery waits longer than a few milliseconds. */
const batchSize = 50;
const intervalMs = 250;
/** After a batch, the follower rests for so many times as long, so that it takes a tenth of the time of the writer. */
const restFactor = 9;
/** How long a search waits for the index. */
const longestWaitMs = 500;
/** How often a search looks whether another instance has indexed its batch. */
const otherInstanceMs = 2;
/** More queued events than this are reported: they are those of an earlier version. */
const backlogSize = 10_000;
const reportMs = 10_000;

interface Batch {
  /** Counts batches by their start. */
  readonly number: number;
  /** Whether more may be queued. */
  readonly hasMore: boolean;
  /** The lowest number in the queue of an indexed event; null if none was indexed. */
  readonly lowest: number | null;
}

export function searchIndex(storage: Storage, clock: Clock, log: Log): SearchIndex {
  /** The batch under way: searches share it. */
  let batch: Promise<Batch> | null = null;
  let started = 0;
  /** When the next gentle batch may start. */
  let restsUntilMs = 0;
  let isBacklog = false;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function indexBatch(): Promise<Batch> {
    batch ??= indexOne((started += 1)).finally(() => (batch = null));
    return batch;
  }

  async function indexOne(number: number): Promise<Batch> {
    const queued = await storage.all(oldestQueued, {});
    if (queued.length === 0) return { number, hasMore: false, lowest: null };
    const [{ rows }] = await storage.atomically(write(indexQueued, { limit: batchSize }));
    const hasMore = rows.length === batchSize;
    return { number, hasMore, lowest: rows.length === 0 ? null : lowestOf(rows) };
  }

  /** For callers that need every new event. Together they take a tenth of the time of the writer, as the follower. */
  async function indexGently(): Promise<void> {
    const waitMs = restsUntilMs - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    const startedMs = performance.now();
    await indexBatch();
    const endedMs = performance.now();
    const restMs = Math.min((endedMs - startedMs) * restFactor, longestWaitMs);
    // Another instance may be indexing the events: they are not in the index until it commits.
    restsUntilMs = endedMs + Math.max(restMs, otherInstanceMs);
  }

  async function indexNext(): Promise<number> {
    const startedMs = performance.now();
    let pauseMs = intervalMs;
    try {
      if ((await indexBatch()).hasMore) {
        pauseMs = (performance.now() - startedMs) * restFactor;
        await report();
      } else if (isBacklog) {
        log.info("search index built");
        isBacklog = false;
      }
    } catch (error) {
      log.error({ err: error }, "failed to index events for search; retrying");
    }
    return pauseMs;
  }

  async function report(): Promise<void> {
    if (clock.now() - reportedAt < reportMs) return;
    reportedAt = clock.now();
    const [{ count } = { count: 0 }] = await storage.all(queuedCount, {});
    if (count < backlogSize) return;
    isBacklog = true;
    log.info({ remaining: count }, "building the search index; older events are not found yet");
  }

  const task = backgroundTask(clock, indexNext);

  return {
    start: () => task.start(intervalMs),
    stop: () => task.stop(),
    async caughtUp(patienceMs = longestWaitMs) {
      const deadline = performance.now() + patienceMs;
      const [newest] = await storage.all(newestQueued, {});
      if (newest === undefined) return true;
      let last = newest.seq;
      const startedBefore = started;
      for (;;) {
        const { number, hasMore, lowest } = await indexBatch();
        // SQLite gives the numbers of indexed events to new ones. Those queued before are below this batch, which
        // had the highest. On PostgreSQL, another instance may have left events above it.
        if (storage.dialect === "sqlite" && number > startedBefore && lowest !== null) {
          last = Math.min(last, lowest - 1);
        }
        const [oldest] = await storage.all(oldestQueued, {});
        if (oldest === undefined || oldest.seq > last) return true;
        if (performance.now() >= deadline) return false;
        // Another instance is indexing the others: they are in the queue until it commits.
        if (!hasMore) await Bun.sleep(otherInstanceMs);
      }
    },
    async has(ids, goesOn) {
      for (let left = ids; ;) {
        left = (await storage.all(notIndexedOf, { ids: left })).map(({ id }) => id);
        if (left.length === 0) return true;
        if (!goesOn()) return false;
        await indexGently();
      }
    },
  };
}

function lowestOf(rows: readonly { readonly seq: number }[]): number {
  return Math.min(...rows.map(({ seq }) => seq));
}
