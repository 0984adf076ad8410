import type { ReservedSQL } from "bun";

import type { AppError } from "../../base/errors.ts";
import { migrationsTable } from "../schema.ts";
import type { Write, WriteResult } from "../statement.ts";
import { skippedResult, type Transaction } from "../transaction.ts";

import type { Compile } from "./compile.ts";
import { isOfOneTransaction, isStorageError, sqlStateOf, unusableError } from "./errors.ts";
import type { PlacedTransaction } from "./placing.ts";

/** The progress of a transaction in one attempt. */
export interface Progress {
  readonly transaction: PlacedTransaction;
  readonly contended: readonly ContendedRow[];
  readonly results: WriteResult<unknown>[];
  /** Index of the next statement to send; the number of statements when all were sent. */
  next: number;
  error: AppError | null;
}

/** Thrown when the server rejects a statement of this transaction, which aborts the whole group. */
export class StatementError extends Error {
  constructor(
    readonly transaction: PlacedTransaction,
    override readonly cause: unknown,
  ) {
    super("A statement was rejected");
  }
}

/** Maximum number of statements of one transaction that are sent before their answers are awaited. */
export const maxWritesPerWave = 500;

/**
 * Statements that fail if writes fail, and that change nothing. The first fails when writes are not
 * allowed. The second writes to the write-ahead log, so its commit waits for the disk, and for a standby
 * with synchronous replication; the commit of an empty transaction does not.
 */
const probeTexts = [
  `delete from ${migrationsTable.name} where false`,
  "select pg_logical_emit_message(true, 'skyhook', '')",
];

/**
 * Begins a transaction whose statements read few rows, each by an index. The server plans a statement once, often while
 * a table is new and small, and would read all of it from then on, however large it has become. What can only be read
 * as a whole, such as a sequence, looks expensive then, which is no reason to compile it for 20 ms.
 */
const beginText = `begin isolation level read committed; ${[
  "enable_seqscan",
  "enable_hashjoin",
  "enable_mergejoin",
  // Would keep all of an inner table, read by any index.
  "enable_material",
  // Would read all that is due to find what is due first.
  "enable_sort",
  "jit",
]
  .map((name) => `set local ${name} = off`)
  .join("; ")}`;

/** Runs a group in one database transaction and commits it, unless one failed after it had written. */
export async function runGroup(
  connection: ReservedSQL,
  compile: Compile,
  group: readonly PlacedTransaction[],
): Promise<Progress[]> {
  const all = group.map<Progress>((transaction) => ({
    transaction,
    contended: contendedRows(transaction),
    results: transaction.writes.map(() => skippedResult),
    next: 0,
    error: null,
  }));
  // BEGIN must not fail, since the statements sent after it would then commit one by one. So it is not prepared.
  const sent: Sent[] = [send(connection, beginText), ...lockContended(connection, all)];
  await place(connection, group, sent);
  // Probe even if the group has other transactions: they may write nothing.
  const asking = all.find(isOver);
  if (asking !== undefined) {
    const answers = probeTexts.map((text) => send(connection, text).answer);
    sent.push(...answers.map((answer) => ({ transaction: asking.transaction, answer })));
  }
  for (;;) {
    const checks = all.flatMap((progress) =>
      hasToWait(progress, all) ? [] : sendWave(connection, compile, progress, sent),
    );
    const isLast = all.every(isOver) && checks.length === 0;
    if (isLast) {
      await commitAnd(connection, sent);
      return all;
    }
    await answersOf(sent);
    sent.length = 0;
    for (const check of checks) await check();
    if (all.some(({ error, next }) => error !== null && next > 1)) {
      await connection.unsafe("rollback");
      return all;
    }
  }
}

/** Gives the new events of a group their positions, after all that were given before, by any instance. */
async function place(
  connection: ReservedSQL,
  group: readonly PlacedTransaction[],
  sent: Sent[],
): Promise<void> {
  const places = group.flatMap((each) => each.places);
  if (places.length === 0) return;
  const times = [...new Set(places.map(({ atMs }) => Math.floor(atMs)))];
  const values = [places.length, times.toSorted((one, other) => one - other)];
  const reserved = handled(
    connection.unsafe("select reserve_positions($1, $2)", values).values().execute(),
  );
  await answersOf([...sent.splice(0), { transaction: null, answer: reserved }]);
  let last = Number((await reserved)[0]?.[0]) - 1;
  for (const transaction of group) {
    if (transaction.places.length > 0) last = transaction.place(last);
  }
}

/** A statement that was sent. `transaction` is null for statements of the whole group. */
interface Sent {
  readonly transaction: PlacedTransaction | null;
  readonly answer: Promise<unknown>;
}

function send(connection: ReservedSQL, text: string, values?: unknown[]): Sent {
  return { transaction: null, answer: handled(connection.unsafe(text, values).execute()) };
}

/** Marks a promise as handled, since it may reject before it is awaited. */
function handled<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

/** A row that a transaction changes and that many others change too. */
interface ContendedRow {
  readonly table: string;
  readonly lock: number;
  /** Whether the first statement changes it. */
  readonly isFirst: boolean;
  readonly isShared: boolean;
}

function contendedRows({ writes }: Transaction): readonly ContendedRow[] {
  return writes.flatMap(({ statement, values }, index) => {
    // Guarantee: `write` pairs a statement with values of its type.
    const rows = statement.contended?.(values as never);
    if (rows === undefined) return [];
    const { table, ids, isShared = false } = rows;
    const row = { table: table.name, isFirst: index === 0, isShared };
    return ids.map((id) => ({ ...row, lock: lockNumber(id) }));
  });
}

/**
 * Whether a transaction must not begin yet. Statements of a group alternate: all first ones, then the others. If one
 * transaction begins with a row that another one changes at its end, the first would see half of the other.
 */
function hasToWait(progress: Progress, all: readonly Progress[]): boolean {
  const { contended, next } = progress;
  if (next > 0 || contended.length === 0) return false;
  const earlier = all.slice(0, all.indexOf(progress));
  return earlier.some(
    (other) =>
      !isOver(other) &&
      other.contended.some((theirs) =>
        contended.some(
          (own) =>
            own.table === theirs.table &&
            own.lock === theirs.lock &&
            !(own.isShared && theirs.isShared) &&
            own.isFirst !== theirs.isFirst,
        ),
      ),
  );
}

const lockText = `select case is_shared
    when 0 then pg_advisory_xact_lock($1::regclass::oid::int4, id)::text
    else pg_advisory_xact_lock_shared($1::regclass::oid::int4, id)::text end
  from unnest($2::int4[], $3::int4[]) as contended(id, is_shared)`;

/** Locks the contended rows of a group, in the same order in all instances, to prevent deadlocks. */
function lockContended(connection: ReservedSQL, all: readonly Progress[]): Sent[] {
  const wanted = new Map<string, Map<number, boolean>>();
  for (const { table, lock, isShared } of all.flatMap(({ contended }) => contended)) {
    const locks = wanted.get(table) ?? new Map<number, boolean>();
    wanted.set(table, locks.set(lock, isShared && locks.get(lock) !== false));
  }
  return [...wanted]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([table, locks]) => {
      const inOrder = [...locks].toSorted(([one], [other]) => one - other);
      const shared = inOrder.map(([, isShared]) => Number(isShared));
      return send(connection, lockText, [table, inOrder.map(([id]) => id), shared]);
    });
}

/** An advisory lock has room for 32 bits. */
function lockNumber(id: number | string): number {
  return typeof id === "number" ? id : Bun.hash.crc32(id) | 0;
}

/**
 * Sends the next statements of a transaction, up to one whose result decides whether to continue. Returns
 * the checks of those results, to run once the answers are there.
 */
function sendWave(
  connection: ReservedSQL,
  compile: Compile,
  progress: Progress,
  sent: Sent[],
): (() => Promise<void>)[] {
  const { transaction, results } = progress;
  const checks: (() => Promise<void>)[] = [];
  for (let count = 0; count < maxWritesPerWave && !isOver(progress); count += 1) {
    const index = progress.next;
    const write = transaction.writes[index];
    if (write === undefined) break;
    progress.next += 1;
    const answer = handled(sendWrite(connection, compile, transaction, write));
    void answer.then((result) => (results[index] = result)).catch(() => {});
    sent.push({ transaction, answer });
    const { onNoRows } = write;
    if (onNoRows === undefined || (onNoRows === "stop" && isOver(progress))) continue;
    checks.push(async () => {
      if ((await answer).changes > 0 || progress.error !== null) return;
      results[index] = skippedResult;
      if (onNoRows === "stop") progress.next = transaction.writes.length;
      else progress.error = onNoRows;
    });
    // Wait for the first statement: if it fails, nothing has to be rolled back. Later errors are rare.
    if (onNoRows === "stop" || index === 0) break;
  }
  return checks;
}

function sendWrite(
  connection: ReservedSQL,
  compile: Compile,
  transaction: PlacedTransaction,
  { statement, values }: Write<unknown>,
): Promise<WriteResult<unknown>> {
  try {
    return compile(statement)(connection, values);
  } catch (error) {
    // The server did not see this error and would commit the group, so fail it here.
    throw new StatementError(transaction, error);
  }
}

function isOver({ transaction, next, error }: Progress): boolean {
  return error !== null || next >= transaction.writes.length;
}

/** Waits for all answers. Throws the first error; a `StatementError` if it concerns a single transaction. */
async function answersOf(sent: readonly Sent[]): Promise<void> {
  await Promise.allSettled(sent.map(({ answer }) => answer));
  for (const { transaction, answer } of sent) {
    try {
      await answer;
    } catch (error) {
      const isOfAll = isStorageError(error) && !isOfOneTransaction(error);
      throw transaction === null || isOfAll ? error : new StatementError(transaction, error);
    }
  }
}

/**
 * Sends COMMIT without waiting for earlier answers: if an earlier statement fails, the server rolls back.
 * When the connection breaks after COMMIT was sent, the outcome is unknown. The group is not repeated here;
 * the error asks the caller to retry, and unique keys let the retry find what the first attempt committed.
 */
async function commitAnd(connection: ReservedSQL, sent: readonly Sent[]): Promise<void> {
  const commit = send(connection, "commit").answer;
  const isRejected = (error: unknown) => sqlStateOf(error) !== null;
  try {
    await answersOf(sent);
  } catch (error) {
    const known = isRejected(error instanceof StatementError ? error.cause : error);
    throw known ? error : unusableError(error);
  }
  try {
    await commit;
  } catch (error) {
    // A server that is shutting down may have committed without an answer.
    throw isRejected(error) && !sqlStateOf(error)?.startsWith("57P") ? error : unusableError(error);
  }
}
