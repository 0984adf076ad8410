import { AppError } from "../base/errors.ts";

import type { Write, WriteResult } from "./statement.ts";
import type { StorageObserver } from "./storage.ts";

/** Statements that wait for their commit, all or nothing. */
export interface Transaction {
  readonly writes: readonly Write<unknown>[];
  resolve(results: WriteResult<unknown>[]): void;
  reject(error: unknown): void;
  /** Receives the end for an observer; null where there is none. */
  readonly onEnd: ReturnType<StorageObserver["transactionWaits"]>;
}

/** The result of a statement that was skipped. */
export const skipped: WriteResult<unknown> = { rows: [], changes: 0 };

/** Limits the locks of one group commit, and how long it holds them. */
export const maxTransactionsPerCommit = 512;
/** Beyond this the database is too slow for the load, and new transactions fail at once. */
const maxWaitingTransactions = 20_000;

/** Why a transaction is not accepted; null when it is. */
export function unavailableReason(closed: boolean, waiting: number): AppError | null {
  if (!closed && waiting < maxWaitingTransactions) return null;
  const detail = closed ? "The service is shutting down" : "Too much work is waiting";
  return new AppError("unavailable", detail, { retryAfterSeconds: 5 });
}
