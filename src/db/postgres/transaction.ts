import type { ReservedSQL } from "bun";

import { AppError } from "../../base/errors.ts";
import { migrationsTable } from "../schema.ts";
import type { Step, StepResult } from "../statement.ts";
import { leftOut, type Unit } from "../transaction.ts";

import { isOfUnit, isStorageFault, sqlStateOf } from "./faults.ts";
import type { Compile } from "./compile.ts";

/** How far a unit has come in one try. */
export interface Progress {
  readonly unit: Unit;
  readonly results: StepResult<unknown>[];
  /** The step to send next; past the end when there is none. */
  next: number;
  error: AppError | null;
}

/** The unit whose statement the server refused. It aborted the transaction of all. */
export class Refused extends Error {
  constructor(
    readonly unit: Unit,
    override readonly cause: unknown,
  ) {
    super("A statement was refused");
  }
}

/** Statements of one unit that are sent before their answers are awaited. */
export const maxStepsPerWave = 500;

/**
 * What fails where writes fail, and changes nothing: the first where they are not allowed; the second, a
 * line in the server's log, is waited for like them (until it is on disk, and at a standby where commits
 * wait for one). An empty transaction is not.
 */
const probeTexts = [
  `delete from ${migrationsTable.name} where false`,
  "select pg_logical_emit_message(true, 'skyhook', '')",
];

/** Runs a group in one transaction, and commits it unless a unit failed half-way. */
export async function runGroup(
  connection: ReservedSQL,
  compile: Compile,
  group: readonly Unit[],
): Promise<Progress[]> {
  const all = group.map<Progress>((unit) => ({
    unit,
    results: unit.steps.map(() => leftOut),
    next: 0,
    error: null,
  }));
  // Plain, as it must not fail: what is sent behind it would be committed one by one.
  const sent: Sent[] = [send(connection, "begin"), ...lockContended(connection, group)];
  // Beside other units too: they may find nothing to write.
  const asking = all.find(isOver);
  if (asking !== undefined) {
    const answers = probeTexts.map((text) => send(connection, text).answer);
    sent.push(...answers.map((answer) => ({ unit: asking.unit, answer })));
  }
  for (;;) {
    const checks = all.flatMap((progress) => sendWave(connection, compile, progress, sent));
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

/** A statement that was sent: for which unit, and its answer. */
interface Sent {
  readonly unit: Unit | null;
  readonly answer: Promise<unknown>;
}

function send(connection: ReservedSQL, text: string, values?: unknown[]): Sent {
  return { unit: null, answer: handled(connection.unsafe(text, values).execute()) };
}

/** The same promise; that it may fail before it is awaited is no fault. */
function handled<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

const lockText =
  "select pg_advisory_xact_lock($1::regclass::oid::int4, id) from unnest($2::int4[]) as id";

/** Takes the locks of what many want, in the order that all instances keep. */
function lockContended(connection: ReservedSQL, group: readonly Unit[]): Sent[] {
  const wanted = new Map<string, Set<number>>();
  for (const { steps } of group) {
    for (const { statement, values } of steps) {
      // Guarantee: a step is made of a statement and its own values.
      const row = statement.contended?.(values as never);
      if (row === undefined) continue;
      const ids = wanted.get(row.table.name) ?? new Set();
      wanted.set(row.table.name, ids.add(row.id));
    }
  }
  return [...wanted]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([table, ids]) =>
      send(connection, lockText, [table, [...ids].toSorted((one, other) => one - other)]),
    );
}

/**
 * Sends a unit's next steps, up to one whose answer says whether to go on. The checks that it returns
 * read those answers once they are there.
 */
function sendWave(
  connection: ReservedSQL,
  compile: Compile,
  progress: Progress,
  sent: Sent[],
): (() => Promise<void>)[] {
  const { unit, results } = progress;
  const checks: (() => Promise<void>)[] = [];
  for (let count = 0; count < maxStepsPerWave && !isOver(progress); count += 1) {
    const index = progress.next;
    const step = unit.steps[index];
    if (step === undefined) break;
    progress.next += 1;
    const answer = handled(sendStep(connection, compile, unit, step));
    void answer.then((result) => (results[index] = result)).catch(() => {});
    sent.push({ unit, answer });
    const { ifNone } = step;
    if (ifNone === undefined || (ifNone === "stop" && isOver(progress))) continue;
    checks.push(async () => {
      if ((await answer).touched > 0 || progress.error !== null) return;
      results[index] = leftOut;
      if (ifNone === "stop") progress.next = unit.steps.length;
      else progress.error = ifNone;
    });
    // After the first step nothing is to be undone yet: worth waiting for. A later error is rare.
    if (ifNone === "stop" || index === 0) break;
  }
  return checks;
}

function sendStep(
  connection: ReservedSQL,
  compile: Compile,
  unit: Unit,
  { statement, values }: Step<unknown>,
): Promise<StepResult<unknown>> {
  try {
    return compile(statement)(connection, values);
  } catch (error) {
    // It was not sent, so the server knows of no fault: nothing may be committed behind it.
    throw new Refused(unit, error);
  }
}

function isOver({ unit, next, error }: Progress): boolean {
  return error !== null || next >= unit.steps.length;
}

/** Waits for all answers. Throws what the first refusal means for the group. */
async function answersOf(sent: readonly Sent[]): Promise<void> {
  await Promise.allSettled(sent.map(({ answer }) => answer));
  for (const { unit, answer } of sent) {
    try {
      await answer;
    } catch (error) {
      const isOfAll = isStorageFault(error) && !isOfUnit(error);
      throw unit === null || isOfAll ? error : new Refused(unit, error);
    }
  }
}

/** Commits without waiting for what was sent before: if any of it fails, the server rolls back. */
async function commitAnd(connection: ReservedSQL, sent: readonly Sent[]): Promise<void> {
  const commit = send(connection, "commit").answer;
  const isRefused = (error: unknown) => sqlStateOf(error) !== null;
  try {
    await answersOf(sent);
  } catch (error) {
    const known = isRefused(error instanceof Refused ? error.cause : error);
    throw known ? error : commitUnknown(error);
  }
  try {
    await commit;
  } catch (error) {
    // Told to shut down, the server may have committed and not come to say so.
    throw isRefused(error) && !sqlStateOf(error)?.startsWith("57P") ? error : commitUnknown(error);
  }
}

/**
 * The connection broke after COMMIT was sent, and nobody can know what became of it. It is never run
 * again by ourselves: who asked is told to, and keys make the second time find what the first one did.
 */
function commitUnknown(cause: unknown): AppError {
  return new AppError("unavailable", "The database cannot be used at the moment; try again", {
    retryAfterSeconds: 5,
    cause,
  });
}
