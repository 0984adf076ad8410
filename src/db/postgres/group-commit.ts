import type { ReservedSQL, SQL } from "bun";

import type { Later, Write, WriteResult } from "../statement.ts";
import type { Storage, StorageObserver } from "../storage.ts";
import { bytesOf, maxTransactionsPerCommit, unavailableReason } from "../transaction.ts";

import type { Compile } from "./compile.ts";
import { answerWithin, asUnavailable, isOfWrites, NoAnswer } from "./errors.ts";
import { type PlacedTransaction, placingOf } from "./placing.ts";
import { retryTransient } from "./retry.ts";
import { maxWritesPerWave, type Progress, runGroup, StatementError } from "./transaction.ts";

interface GroupCommitLimits {
  /** Maximum number of concurrent database transactions, each on its own connection. */
  readonly transactions: number;
  /** How long a group is retried after a transient error before it fails. */
  readonly retryMs: number;
  /** How long the server may take to answer before the connection is closed. */
  readonly answerTimeoutMs: number;
}

/** For this long after a write failed, empty transactions fail too. */
const errorMemoryMs = 5_000;

/**
 * Group commit: waiting transactions share one database transaction, and their statements are pipelined, so
 * a group costs the round trips and the sync of a single one. A transaction that fails after it has written
 * rolls back the group; then the others run again together, and the failed one runs alone.
 */
export function groupCommit(
  pool: SQL,
  compile: Compile,
  observer: StorageObserver,
  limits: GroupCommitLimits,
): { atomically: Storage["atomically"]; close(): Promise<void> } {
  let waiting: PlacedTransaction[] = [];
  let scheduled = false;
  let underWay = 0;
  /** The bytes of all transactions that wait or are under way. */
  let waitingBytes = 0;
  let closed = false;
  const idle = Promise.withResolvers<void>();
  /** The error and time of the last failed write; null after a successful one. */
  let lastError: { readonly error: unknown; readonly atMs: number } | null = null;

  function enqueue(parts: readonly (Write<unknown> | Later)[]): Promise<WriteResult<unknown>[]> {
    const reason = unavailableReason(closed, waiting.length, waitingBytes);
    if (reason !== null) return Promise.reject(reason);
    // An empty transaction checks whether commits work. On a full disk it would succeed while writes fail.
    if (parts.length === 0 && lastError && performance.now() - lastError.atMs < errorMemoryMs) {
      return Promise.reject(asUnavailable(lastError.error));
    }
    return new Promise((resolve, reject) => {
      const placing = placingOf(parts);
      const bytes = bytesOf(placing.writes);
      waitingBytes += bytes;
      const onEnd = observer.transactionWaits();
      waiting.push(Object.assign(placing, { bytes, resolve, reject, onEnd }));
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    });
  }

  function flush(): void {
    scheduled = false;
    while (waiting.length > 0 && underWay < limits.transactions) {
      const group = waiting.slice(0, maxTransactionsPerCommit);
      waiting = waiting.slice(group.length);
      underWay += 1;
      void settle(group).finally(() => {
        underWay -= 1;
        for (const { bytes } of group) waitingBytes -= bytes;
        flush();
      });
    }
    if (closed && waiting.length === 0 && underWay === 0) idle.resolve();
  }

  /** Resolves or rejects each transaction of a group, in as few database transactions as possible. */
  async function settle(group: readonly PlacedTransaction[]): Promise<void> {
    if (group.length === 0) return;
    const startedMs = performance.now();
    try {
      const tried = await retryTransient(limits.retryMs, () => tryOnce(group));
      const failed = tried.filter(({ error }) => error !== null);
      const undone = failed.some(({ next }) => next > 1);
      if (undone && group.length > 1) {
        const passed = tried.filter(({ error }) => error === null);
        await settle(passed.map(({ transaction }) => transaction));
        for (const { transaction } of failed) await settle([transaction]);
        return;
      }
      if (tried.some(({ next }) => next > 0)) lastError = null;
      observer.groupCommitted((performance.now() - startedMs) / 1_000, group.length);
      for (const { transaction, results, error } of tried) {
        transaction.onEnd?.(group.length, error);
        if (error === null) transaction.resolve(results);
        else transaction.reject(error);
      }
    } catch (error) {
      if (error instanceof StatementError && group.length > 1) {
        await settle(group.filter((transaction) => transaction !== error.transaction));
        await settle([error.transaction]);
        return;
      }
      const cause = error instanceof StatementError ? error.cause : error;
      if (isOfWrites(cause)) lastError = { error: cause, atMs: performance.now() };
      const reason = asUnavailable(cause);
      observer.groupCommitted((performance.now() - startedMs) / 1_000, group.length);
      for (const transaction of group) {
        transaction.onEnd?.(group.length, reason);
        transaction.reject(reason);
      }
    }
  }

  /** Never repeats a group that may have been committed: the error for an unknown outcome is not transient. */
  async function tryOnce(group: readonly PlacedTransaction[]): Promise<readonly Progress[]> {
    const connection = await reserve();
    const abandon = () => void connection.close({ timeout: 0 });
    try {
      return await answerWithin(runGroup(connection, compile, group), timeoutOf(group), abandon);
    } catch (error) {
      const rollback = connection.unsafe("rollback");
      // The server may have ended the transaction already, or the connection may be broken.
      await answerWithin(rollback, limits.answerTimeoutMs, abandon).catch(() => {});
      throw error;
    } finally {
      void connection.release();
    }
  }

  async function reserve(): Promise<ReservedSQL> {
    try {
      return await pool.reserve({ signal: AbortSignal.timeout(limits.answerTimeoutMs) });
    } catch (error) {
      const late = error instanceof DOMException && error.name === "TimeoutError";
      throw late ? new NoAnswer(limits.answerTimeoutMs) : error;
    }
  }

  /** Long transactions, for example imports, have more time. */
  function timeoutOf(group: readonly PlacedTransaction[]): number {
    const writes = Math.max(...group.map((transaction) => transaction.writes.length));
    return limits.answerTimeoutMs * Math.ceil((writes + 1) / maxWritesPerWave);
  }

  return {
    // Guarantee: enqueue resolves with one result for each statement, of its own rows.
    atomically: ((...parts: (Write<unknown> | Later)[]) => enqueue(parts)) as Storage["atomically"],
    async close() {
      closed = true;
      flush();
      await idle.promise;
    },
  };
}
