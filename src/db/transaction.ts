import { AppError } from "../base/errors.ts";

import type { Place } from "./place.ts";
import type { Later, Write, WriteResult } from "./statement.ts";
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
export const skippedResult: WriteResult<unknown> = { rows: [], changes: 0 };

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

/** Lists the writes of a transaction. Assigns a position to each new event in their order. */
export function placedWrites(
  parts: readonly (Write<unknown> | Later)[],
  assign: (place: Place) => void,
): readonly Write<unknown>[] {
  const writes: Write<unknown>[] = [];
  for (const part of parts) {
    for (const each of typeof part === "function" ? part() : [part]) {
      const place = placeOf(each);
      if (place !== null) assign(place);
      writes.push(each);
    }
  }
  return writes;
}

/** The place of the event that a write stores; null for other writes. */
export function placeOf({ statement, values }: Write<unknown>): Place | null {
  // Guarantee: `write` pairs a statement with values of its type.
  return statement.place?.(values as never) ?? null;
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
