import { nextPosition } from "../place.ts";
import type { Later, Write, WriteResult } from "../statement.ts";
import type { Storage, StorageObserver } from "../storage.ts";
import {
  bytesOf,
  maxTransactionsPerCommit,
  placedWrites,
  skippedResult,
  type Transaction,
  unavailableReason,
} from "../transaction.ts";

import { compile, type Compiled } from "./compile.ts";
import { asUnavailable, errorOf } from "./errors.ts";
import {
  changesOf,
  type GroupAnswer,
  type StatementAnswer,
  type TransactionAnswer,
} from "./group.ts";
import type { BoundStatement, BoundTransaction, Writer } from "./writer.ts";

/** Ends the program: later groups would wait for ever. */
const rethrown = (error: unknown) =>
  void setImmediate(() => {
    throw error;
  });

interface WaitingTransaction extends Transaction {
  /** What its writes are made of. */
  readonly parts: readonly (Write<unknown> | Later)[];
  readonly bound: BoundTransaction;
}

/** Bounds what a group copies and commits at once; one transaction may exceed it. */
const maxBytesPerCommit = 16 * 2 ** 20;
/** For this long after a commit failed, empty transactions fail too. */
const errorMemoryMs = 5_000;

/**
 * Group commit: transactions that arrive in one turn of the event loop, or while another group is being
 * committed, share one database transaction and one fsync, which is 5–6 times faster than one each. A
 * transaction that fails is rolled back alone (group.ts).
 */
export function groupCommit(
  writer: Writer,
  observer: StorageObserver,
): { atomically: Storage["atomically"]; close(): Promise<void> } {
  let waiting: WaitingTransaction[] = [];
  /** The number of transactions in the group that is being committed. */
  let underWay = 0;
  /** The bytes of all transactions that wait or are under way. */
  let bytes = 0;
  let isScheduled = false;
  let closed = false;
  /** The last position that was assigned. Positions are assigned in the order of commits. */
  let lastPosition = 0;
  /** The last position of the groups that were taken. What waits and is not after it gets new positions. */
  let takenUntil = 0;
  /** The error and time of the last commit that wrote something; null when it succeeded. */
  let lastError: { readonly error: unknown; readonly atMs: number } | null = null;

  function enqueue(parts: readonly (Write<unknown> | Later)[]): Promise<WriteResult<unknown>[]> {
    const reason = unavailableReason(closed, waiting.length + underWay, bytes);
    if (reason !== null) return Promise.reject(reason);
    // An empty transaction checks whether commits work. On a full disk it would succeed while writes fail.
    if (parts.length === 0 && lastError && performance.now() - lastError.atMs < errorMemoryMs) {
      return Promise.reject(asUnavailable(lastError.error));
    }
    return new Promise((resolve, reject) => {
      const made = writesOf(parts);
      add({ parts, ...made, resolve, reject, onEnd: observer.transactionWaits() });
    });
  }

  function writesOf(parts: WaitingTransaction["parts"]) {
    let positions: BoundTransaction["positions"] = null;
    const writes = placedWrites(parts, (place) => {
      lastPosition = nextPosition(lastPosition, place);
      positions = [positions?.[0] ?? lastPosition, lastPosition];
      place.assign(lastPosition);
    });
    return { writes, bound: { statements: bind(writes), positions } };
  }

  function add(transaction: Omit<WaitingTransaction, "bytes">): void {
    const size = bytesOf(transaction.writes);
    bytes += size;
    waiting.push({ ...transaction, bytes: size });
    if (isScheduled || underWay > 0) return;
    isScheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    isScheduled = false;
    const group = takeGroup();
    if (group.length > 0) commit(group).catch(rethrown);
  }

  function takeGroup(): WaitingTransaction[] {
    let size = 0;
    let count = 0;
    for (const transaction of waiting) {
      size += transaction.bytes;
      if (count === maxTransactionsPerCommit || (count > 0 && size > maxBytesPerCommit)) break;
      count += 1;
    }
    const group = waiting.slice(0, count).map((transaction) => {
      const [first = Infinity] = transaction.bound.positions ?? [];
      const current =
        first > takenUntil ? transaction : { ...transaction, ...writesOf(transaction.parts) };
      takenUntil = current.bound.positions?.[1] ?? takenUntil;
      return current;
    });
    waiting = waiting.slice(count);
    return group;
  }

  async function commit(group: readonly WaitingTransaction[]): Promise<void> {
    underWay = group.length;
    const answer = await writer.run(group.map(({ bound }) => bound));
    underWay = 0;
    if ("newest" in answer) return placeAgain(group, answer.newest);
    if (hasWritten(answer)) lastError = null;
    else if ("error" in answer && answer.isBegun)
      lastError = { error: errorOf(answer.error), atMs: performance.now() };
    const ended = [...group];
    if (isBegun(answer)) observer.groupCommitted(answer.seconds, group.length);
    else {
      // Without the lock, later groups would fail as well, each after the same wait.
      ended.push(...waiting);
      waiting = [];
    }
    // The writer has its next group before the callers of this one run.
    flush();
    settle(ended, answer);
  }

  /** Another process has stored events meanwhile: those of this one come after them. */
  function placeAgain(group: readonly WaitingTransaction[], newest: number): void {
    lastPosition = Math.max(lastPosition, newest);
    takenUntil = newest;
    waiting = [...group, ...waiting];
    flush();
  }

  function settle(ended: readonly WaitingTransaction[], answer: GroupAnswer): void {
    for (const [index, transaction] of ended.entries()) {
      bytes -= transaction.bytes;
      try {
        const results = resultsOf(transaction, answerAt(answer, index));
        transaction.onEnd?.(ended.length, null);
        transaction.resolve(results);
      } catch (error) {
        transaction.onEnd?.(ended.length, error);
        transaction.reject(error);
      }
    }
  }

  return {
    // Guarantee: enqueue resolves with one result for each statement, of its own rows.
    atomically: ((...parts: (Write<unknown> | Later)[]) => enqueue(parts)) as Storage["atomically"],
    async close() {
      closed = true;
      if (waiting.length + underWay === 0) return;
      // An empty transaction settles after all transactions that were queued before it.
      await new Promise<void>((resolve) => {
        const settled = () => resolve();
        add({ parts: [], ...writesOf([]), resolve: settled, reject: settled, onEnd: null });
      });
    },
  };
}

function isBegun(answer: GroupAnswer): boolean {
  return !("error" in answer) || answer.isBegun;
}

/** A commit of nothing succeeds on a full disk too. */
function hasWritten(answer: GroupAnswer): boolean {
  return (
    "transactions" in answer &&
    answer.transactions.some(
      (each) => "results" in each && each.results.some((result) => changesOf(result) > 0),
    )
  );
}

function answerAt(answer: GroupAnswer, index: number): TransactionAnswer {
  if ("error" in answer) return answer;
  const transactions = "transactions" in answer ? answer.transactions : [];
  return transactions[index] ?? { error: { code: null, message: "No answer" } };
}

function bind(writes: readonly Write<unknown>[]): readonly BoundStatement[] {
  return writes.map(({ statement, values, onNoRows }) => {
    const { sql, bind } = compile(statement);
    const whenNone = onNoRows === undefined || onNoRows === "stop" ? (onNoRows ?? null) : "fail";
    return { sql, parameters: bind(values), onNoRows: whenNone };
  });
}

/** Throws the error of a transaction that was rolled back. */
function resultsOf(
  { writes }: WaitingTransaction,
  answer: TransactionAnswer,
): WriteResult<unknown>[] {
  if ("error" in answer) throw asUnavailable(errorOf(answer.error));
  if ("noRowsAt" in answer) throw writes[answer.noRowsAt]?.onNoRows;
  return writes.map(({ statement }, index) => {
    const result = answer.results[index];
    return result === undefined ? skippedResult : decoded(compile(statement), result);
  });
}

const noRows: readonly unknown[] = [];

function decoded({ read }: Compiled, answer: StatementAnswer): WriteResult<unknown> {
  const changes = changesOf(answer);
  if (typeof answer === "number" || read === null) return { rows: noRows, changes };
  try {
    return { rows: answer.map(read), changes };
  } catch (error) {
    throw asUnavailable(error);
  }
}
