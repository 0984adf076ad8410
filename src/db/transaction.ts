import { AppError } from "../base/errors.ts";

import type { Write, WriteResult } from "./statement.ts";
import type { StorageObserver } from "./storage.ts";

/** The statements of one transaction, waiting for their commit. */
export interface Transaction {
  readonly writes: readonly Write<unknown>[];
  /** The result of `bytesOf` for its writes. */
  readonly bytes: number;
  resolve(results: WriteResult<unknown>[]): void;
  reject(error: unknown): void;
  /** Reports the end to the observer; null when it does not watch this transaction. */
  readonly onEnd: ReturnType<StorageObserver["transactionWaits"]>;
}

/** The result of a statement that was skipped. */
export const skipped: WriteResult<unknown> = { rows: [], changes: 0 };

/** Bounds how many locks a group commit holds, and for how long. */
export const maxTransactionsPerCommit = 512;
/** With more waiting, the database is too slow for the load, and new transactions fail at once. */
const maxWaitingTransactions = 20_000;
/** The same for the memory of their values: ten of the largest webhooks. */
const maxWaitingBytes = 256 * 2 ** 20;

/** The error for a transaction that cannot be accepted; null when it can. */
export function unavailableReason(
  closed: boolean,
  waiting: number,
  waitingBytes: number,
): AppError | null {
  if (!closed && waiting < maxWaitingTransactions && waitingBytes < maxWaitingBytes) return null;
  const detail = closed ? "The service is shutting down" : "Too many transactions are waiting";
  return new AppError("unavailable", detail, { retryAfterSeconds: 5 });
}

/** The approximate memory of the values: text and bytes, which can be large. */
export function bytesOf(writes: readonly Write<unknown>[]): number {
  let bytes = 0;
  for (const { values } of writes) {
    for (const value of Object.values(values)) {
      if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
    }
  }
  return bytes;
}
