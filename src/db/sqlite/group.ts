import type { Database } from "bun:sqlite";

import { preparer } from "./connection.ts";
import { type DatabaseFailure, failureOf, isStorageError } from "./errors.ts";
import { pack } from "./packed.ts";

/** A value that SQLite stores. */
export type Bound = string | number | bigint | boolean | null | Uint8Array;

/** Bytes on their way to the storage thread: a part of the group's bytes, and whether they are packed there. */
type Part = readonly [offset: number, length: number, isPackable: boolean];
export type Parameter = Exclude<Bound, Uint8Array> | Part;

/** The number of a statement's text, what happens when it changes no row, and its parameters. */
export type GroupStatement = readonly [
  text: number,
  onNoRows: "stop" | "fail" | null,
  parameters: readonly Parameter[],
];

/** Transactions that share a commit. */
interface GroupWork {
  readonly transactions: readonly (readonly GroupStatement[])[];
  /** All bytes of all parameters, so that sending them copies nothing. */
  readonly bytes: Uint8Array;
  /** The first position of its new events; null without any. */
  readonly firstPosition: number | null;
}

/** A group as plain data, which can be sent to another thread. */
export interface Group extends GroupWork {
  /** The SQL texts that earlier groups did not contain. Numbers count all texts, from zero. */
  readonly newTexts: readonly string[];
}

/** The rows of a statement that returns rows, or the number of rows that it changed. */
export type StatementAnswer = readonly (readonly unknown[])[] | number;

export type TransactionAnswer =
  /** Committed. Shorter than the transaction if a statement with "stop" changed no row. */
  | { readonly results: readonly StatementAnswer[] }
  /** Rolled back: the statement with this index and "fail" changed no row. */
  | { readonly noRowsAt: number }
  /** Rolled back: a statement failed. */
  | { readonly error: DatabaseFailure };

export type GroupAnswer = { readonly seconds: number } & (
  | { readonly transactions: readonly TransactionAnswer[] }
  /** Nothing was committed, because another process has stored an event at this position, beyond the first of the group. */
  | { readonly newest: number }
  /** Nothing was committed. `isBegun`: false if the write lock was not available. */
  | { readonly error: DatabaseFailure; readonly isBegun: boolean }
);

/** The newest position, of what an event or a notification is stored at. */
const newestText = `select max(
  coalesce((select max(position) from events), 0), coalesce((select max(position) from notifications), 0))`;

/**
 * Returns a function that runs and commits a group on this connection. `texts`: by number. A group first runs without
 * savepoints. If a transaction fails after it has written, the group is rolled back and runs again with a
 * savepoint for each, so that only the failing transaction is rolled back. `requireInPlace` throws when a
 * commit would be lost, for example because the file was replaced.
 */
export function groupRunner(
  client: Database,
  texts: readonly string[],
  requireInPlace: () => void,
): (group: GroupWork) => GroupAnswer {
  const prepare = preparer(client);

  /** The newest position, if it is not before the group's. */
  function newestBeyond(firstPosition: number | null): number | null {
    if (firstPosition === null) return null;
    const newest = Number(prepare(newestText).values()[0]?.[0]);
    return newest >= firstPosition ? newest : null;
  }

  function runGroup({
    transactions,
    bytes,
  }: Omit<GroupWork, "firstPosition">): TransactionAnswer[] {
    const answers: TransactionAnswer[] = [];
    for (const transaction of transactions) {
      const { answer, writesDone } = run(transaction, bytes);
      if (!("results" in answer) && writesDone > 0)
        return runWithSavepoints({ transactions, bytes });
      answers.push(answer);
    }
    return answers;
  }

  function runWithSavepoints({ transactions, bytes }: Omit<GroupWork, "firstPosition">) {
    client.run("rollback");
    client.run("begin immediate");
    return transactions.map((transaction) => {
      client.run("savepoint single");
      const { answer } = run(transaction, bytes);
      if (!("results" in answer)) client.run("rollback to single");
      client.run("release single");
      return answer;
    });
  }

  /** Runs one transaction. Throws errors of the database itself, which fail the whole group. */
  function run(
    transaction: readonly GroupStatement[],
    bytes: Uint8Array,
  ): { readonly answer: TransactionAnswer; readonly writesDone: number } {
    const results: StatementAnswer[] = [];
    for (const [index, [text, onNoRows, parameters]] of transaction.entries()) {
      try {
        const result = runStatement(text, parameters, bytes);
        if (changesOf(result) === 0 && onNoRows !== null) {
          if (onNoRows === "stop") break;
          return { answer: { noRowsAt: index }, writesDone: index };
        }
        results.push(result);
      } catch (error) {
        if (isStorageError(error)) throw error;
        return { answer: { error: failureOf(error) }, writesDone: index };
      }
    }
    return { answer: { results }, writesDone: results.length };
  }

  function runStatement(
    text: number,
    parameters: readonly Parameter[],
    bytes: Uint8Array,
  ): StatementAnswer {
    const statement = prepare(texts[text] ?? "");
    const bound = parameters.map((value) => (isPart(value) ? partOf(bytes, value) : value));
    return statement.reader ? statement.values(...bound) : statement.run(...bound).changes;
  }

  function begin(): void {
    // Still open if a failing disk prevented the last rollback.
    if (client.inTransaction) client.run("rollback");
    requireInPlace();
    client.run("begin immediate");
  }

  function rollback(): void {
    try {
      if (client.inTransaction) client.run("rollback");
    } catch {
      // A full or failing disk may already have rolled it back.
    }
  }

  return (group) => {
    const startedMs = performance.now();
    const seconds = () => (performance.now() - startedMs) / 1_000;
    let isBegun = false;
    try {
      begin();
      isBegun = true;
      const newest = newestBeyond(group.firstPosition);
      if (newest !== null) {
        rollback();
        return { newest, seconds: seconds() };
      }
      const transactions = runGroup(group);
      client.run("commit");
      return { transactions, seconds: seconds() };
    } catch (error) {
      rollback();
      return { error: failureOf(error), isBegun, seconds: seconds() };
    }
  };
}

export function changesOf(answer: StatementAnswer): number {
  return typeof answer === "number" ? answer : answer.length;
}

function isPart(value: Parameter): value is Part {
  return Array.isArray(value);
}

function partOf(bytes: Uint8Array, [offset, length, isPackable]: Part): Uint8Array {
  const part = bytes.subarray(offset, offset + length);
  return isPackable ? pack(part) : part;
}
