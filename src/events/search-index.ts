import { backgroundTask } from "../base/background-task.ts";
import type { Clock } from "../base/clock.ts";
import type { Storage } from "../db/storage.ts";
import type { Event } from "../event/event.ts";
import type { Log } from "../telemetry/log.ts";

import { type IndexedBatch, indexEvents } from "./index-batch.ts";
import {
  newestQueued,
  newestUnread,
  notIndexedOf,
  oldestQueued,
  queuedCount,
} from "./search-index.sql.ts";

/**
 * Keeps the search index up to date. New events are read in the order of their commits, or queued by them on PostgreSQL.
 * What is queued is indexed newest first: new events do not wait for those of a copy.
 */
export interface SearchIndex {
  start(): void;
  /** Stops after the current batch. The queue is in the database, so the next start continues. */
  stop(): Promise<void>;
  /**
   * Resolves with true when all events are indexed that were stored before the call, by any instance, or with false
   * when that takes longer than `patienceMs`.
   */
  caughtUp(patienceMs?: number): Promise<boolean>;
  /** Resolves with true when these events are indexed or deleted, or with false when `goesOn` says no before. */
  has(ids: readonly Event["id"][], goesOn: () => boolean): Promise<boolean>;
}

/** Events in a batch: larger ones cost less per event, but make deliveries wait longer. */
const newBatchSize = 100;
/** The same for queued events, which are indexed one by one. */
const queuedBatchSize = 50;
const intervalMs = 250;
/** The rest after a batch of new events. It does not depend on how long the batch took, which a busy host prolongs. */
const restMs = 20;
/** After a batch of a backlog, the follower rests for so many times as long, so that it takes a tenth of the writer's time. */
const restFactor = 9;
/** How long a search waits for the index. */
const longestWaitMs = 500;
/** How often a search looks whether another instance has indexed its batch. */
const otherInstanceMs = 2;
/** More events than this are a backlog, for example those of a copy: they are queued, and new ones go first. */
const backlogSize = 10_000;
/** Events that are queued in one commit. */
const queuedAtOnce = 1_000;
const reportMs = 10_000;

interface Batch extends Omit<IndexedBatch, "seqs"> {
  /** Counts batches by their start. */
  readonly number: number;
  /** Whether more may be queued. */
  readonly hasQueued: boolean;
  /** The lowest number in the queue of an indexed event; null if none was indexed. */
  readonly lowest: number | null;
}

export function searchIndex(storage: Storage, clock: Clock, log: Log): SearchIndex {
  /** On PostgreSQL, the transaction of an event queues it. */
  const readsEvents = storage.dialect === "sqlite";
  /** The batch under way: searches share it. */
  let batch: Promise<Batch> | null = null;
  let started = 0;
  /** When the next gentle batch may start. */
  let restsUntilMs = 0;
  let isBacklog = false;
  /** Whether too many events wait to index them in order: they are queued. */
  let isFarBehind = false;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function indexBatch(): Promise<Batch> {
    batch ??= indexOne((started += 1)).finally(() => (batch = null));
    return batch;
  }

  async function indexOne(number: number): Promise<Batch> {
    const { seqs, ...done } = await indexEvents(storage, {
      unread: isFarBehind ? 0 : newBatchSize,
      toQueue: isFarBehind ? queuedAtOnce : 0,
      queued: queuedBatchSize,
    });
    isFarBehind &&= done.hasUnread;
    const lowest = seqs.length === 0 ? null : Math.min(...seqs);
    return { number, ...done, hasQueued: seqs.length === queuedBatchSize, lowest };
  }

  /** For callers that need every new event. Together they are as fast as the follower. */
  async function indexGently(): Promise<void> {
    const waitMs = restsUntilMs - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    const startedMs = performance.now();
    const rest = restAfter(await indexBatch(), startedMs);
    restsUntilMs = performance.now() + Math.min(rest, longestWaitMs);
  }

  function restAfter({ hasUnread }: Batch, startedMs: number): number {
    return isBacklog && !hasUnread ? (performance.now() - startedMs) * restFactor : restMs;
  }

  async function indexNextBatch(): Promise<number> {
    const startedMs = performance.now();
    try {
      if (!(await isAnyWaiting())) return intervalMs;
      const done = await indexBatch();
      if (done.hasUnread || done.hasQueued) {
        await report();
        return restAfter(done, startedMs);
      }
      if (isBacklog) log.info("search index built");
      isBacklog = false;
    } catch (error) {
      log.error({ err: error }, "failed to index events for search; retrying");
    }
    return intervalMs;
  }

  async function unread(skip = 0): Promise<number | null> {
    const [newest] = readsEvents ? await storage.all(newestUnread, { skip }) : [];
    return newest?.seq ?? null;
  }

  async function isAnyWaiting(): Promise<boolean> {
    if ((await unread()) !== null) return true;
    return (await storage.all(newestQueued, {})).length > 0;
  }

  async function report(): Promise<void> {
    if (clock.now() - reportedAt < reportMs) return;
    reportedAt = clock.now();
    isFarBehind ||= (await unread(backlogSize)) !== null;
    const [{ count } = { count: 0 }] = await storage.all(queuedCount, {});
    isBacklog = isFarBehind || count >= backlogSize;
    if (isBacklog)
      log.info({ remaining: count }, "building the search index; older events are not found yet");
  }

  /** Resolves with true when all events that are stored now are indexed or queued. */
  async function hasRead(isLate: () => boolean): Promise<boolean> {
    const newest = await unread();
    if (newest === null) return true;
    const startedBefore = started;
    for (;;) {
      const { number, readUntil, hasUnread } = await indexBatch();
      if (readUntil >= newest || (number > startedBefore && !hasUnread)) return true;
      if (isLate()) return false;
    }
  }

  /** Resolves with true when all events that are queued now are indexed. */
  async function hasIndexed(isLate: () => boolean): Promise<boolean> {
    const [newest] = await storage.all(newestQueued, {});
    if (newest === undefined) return true;
    let last = newest.seq;
    const startedBefore = started;
    for (;;) {
      const { number, hasQueued, lowest } = await indexBatch();
      // SQLite gives the numbers of indexed events to new ones. Those queued before are below this batch, which
      // had the highest. On PostgreSQL, another instance may have left events above it.
      if (storage.dialect === "sqlite" && number > startedBefore && lowest !== null) {
        last = Math.min(last, lowest - 1);
      }
      const [oldest] = await storage.all(oldestQueued, {});
      if (oldest === undefined || oldest.seq > last) return true;
      if (isLate()) return false;
      // Another instance is indexing the others: they are in the queue until it commits.
      if (!hasQueued) await Bun.sleep(otherInstanceMs);
    }
  }

  const task = backgroundTask(clock, indexNextBatch);

  return {
    start: () => task.start(intervalMs),
    stop: () => task.stop(),
    async caughtUp(patienceMs = longestWaitMs) {
      const deadline = performance.now() + patienceMs;
      const isLate = () => performance.now() >= deadline;
      return (await hasRead(isLate)) && (await hasIndexed(isLate));
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
