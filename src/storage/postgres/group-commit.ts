import type { ReservedSQL, SQL } from "bun";

import { AppError } from "../../errors.ts";
import type { Step } from "../sql.ts";
import type { StepResult, Storage } from "../storage.ts";

import { answered, isPassing, isStorageFault, Silence, sqlStateOf, unavailable } from "./faults.ts";
import type { Compile } from "./open.ts";

/** A unit of work that waits for its commit. */
interface Unit {
  readonly steps: readonly Step<unknown>[];
  resolve(results: StepResult<unknown>[]): void;
  reject(error: unknown): void;
}

/** How far a unit has come in one try. */
interface Progress {
  readonly unit: Unit;
  readonly results: StepResult<unknown>[];
  /** The step to send next; past the end when there is none. */
  next: number;
  error: AppError | null;
}

/** The unit whose statement the server refused. It aborted the transaction of all. */
class Refused extends Error {
  constructor(
    readonly unit: Unit,
    override readonly cause: unknown,
  ) {
    super("A statement was refused");
  }
}

const leftOut: StepResult<unknown> = { rows: [], touched: 0 };

/** Bounds what one transaction holds, and for how long. */
const maxUnitsPerCommit = 512;
/** Beyond this the server is too slow for the load: new work is refused rather than piled up. */
const maxWaitingUnits = 20_000;
/** Statements of one unit that are sent before their answers are awaited. */
const maxStepsPerWave = 500;
const firstRetryMs = 20;
const longestRetryMs = 500;

export interface GroupCommitLimits {
  /** Transactions under way at a time, each on a connection of its own. */
  readonly transactions: number;
  /** How long a group is tried again after a passing fault before it is refused. */
  readonly retryMs: number;
  /** How long the server may give no answer before the connection is given up. */
  readonly silenceMs: number;
}

/**
 * Commits units of work in groups. Units that wait share one transaction, and their statements are sent
 * without waiting for each other's answers: a group costs the round trips and the sync of one unit. A
 * unit that fails half-way undoes the group; then it runs by itself, and the others together once more.
 */
export function groupCommit(
  pool: SQL,
  compile: Compile,
  limits: GroupCommitLimits,
): { atomically: Storage["atomically"]; close(): Promise<void> } {
  let waiting: Unit[] = [];
  let scheduled = false;
  let underWay = 0;
  let closed = false;
  const idle = Promise.withResolvers<void>();

  function enqueue(steps: readonly Step<unknown>[]): Promise<StepResult<unknown>[]> {
    if (closed || waiting.length >= maxWaitingUnits) {
      const detail = closed ? "The service is shutting down" : "Too much work is waiting";
      return Promise.reject(new AppError("unavailable", detail, { retryAfterSeconds: 5 }));
    }
    return new Promise((resolve, reject) => {
      waiting.push({ steps, resolve, reject });
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    });
  }

  function flush(): void {
    scheduled = false;
    while (waiting.length > 0 && underWay < limits.transactions) {
      const group = waiting.slice(0, maxUnitsPerCommit);
      waiting = waiting.slice(group.length);
      underWay += 1;
      void settle(group).finally(() => {
        underWay -= 1;
        flush();
      });
    }
    if (closed && waiting.length === 0 && underWay === 0) idle.resolve();
  }

  /** Brings each unit of a group to its end, in as few transactions as it takes. */
  async function settle(group: readonly Unit[]): Promise<void> {
    if (group.length === 0) return;
    try {
      const tried = await commitOrRetry(group);
      const failed = tried.filter(({ error }) => error !== null);
      const undone = failed.some(({ next }) => next > 1);
      if (undone && group.length > 1) {
        const passed = tried.filter(({ error }) => error === null);
        await settle(passed.map(({ unit }) => unit));
        for (const { unit } of failed) await settle([unit]);
        return;
      }
      for (const { unit, results, error } of tried) {
        if (error === null) unit.resolve(results);
        else unit.reject(error);
      }
    } catch (error) {
      if (error instanceof Refused && group.length > 1) {
        await settle(group.filter((unit) => unit !== error.unit));
        await settle([error.unit]);
        return;
      }
      const reason = error instanceof Refused ? error.cause : error;
      for (const unit of group) unit.reject(unavailable(reason));
    }
  }

  /** Tries a group until it is committed or a fault does not pass. Never after a commit may have been. */
  async function commitOrRetry(group: readonly Unit[]): Promise<readonly Progress[]> {
    const deadlineMs = performance.now() + limits.retryMs;
    for (let delayMs = firstRetryMs; ; delayMs = Math.min(delayMs * 2, longestRetryMs)) {
      try {
        return await tryOnce(group);
      } catch (error) {
        if (!isPassing(error) || performance.now() + delayMs > deadlineMs) throw error;
        // Two that collided do not meet again at the same moment.
        await Bun.sleep(delayMs * (0.5 + Math.random()));
      }
    }
  }

  async function tryOnce(group: readonly Unit[]): Promise<readonly Progress[]> {
    const connection = await reserve();
    const giveUp = () => void connection.close({ timeout: 0 });
    try {
      return await answered(run(connection, group), silenceOf(group), giveUp);
    } catch (error) {
      // The server may have ended the transaction already, or the connection be gone.
      await connection.unsafe("rollback").catch(() => {});
      throw error;
    } finally {
      void connection.release();
    }
  }

  async function reserve(): Promise<ReservedSQL> {
    try {
      return await pool.reserve({ signal: AbortSignal.timeout(limits.silenceMs) });
    } catch (error) {
      const late = error instanceof DOMException && error.name === "TimeoutError";
      throw late ? new Silence(limits.silenceMs) : error;
    }
  }

  /** Long units, as an import, have longer. */
  function silenceOf(group: readonly Unit[]): number {
    const steps = Math.max(...group.map((unit) => unit.steps.length));
    return limits.silenceMs * Math.ceil((steps + 1) / maxStepsPerWave);
  }

  /** Runs a group in one transaction, and commits it unless a unit failed half-way. */
  async function run(connection: ReservedSQL, group: readonly Unit[]): Promise<Progress[]> {
    const all = group.map<Progress>((unit) => ({
      unit,
      results: unit.steps.map(() => leftOut),
      next: 0,
      error: null,
    }));
    // A standby takes no writes: it is found out here, also by a unit without steps.
    const sent: Sent[] = [
      send(connection, "begin read write"),
      ...lockContended(connection, group),
    ];
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

  return {
    // Guarantee: enqueue resolves with one result for each step, made of that step's own rows.
    atomically: ((...steps: Step<unknown>[]) => enqueue(steps)) as Storage["atomically"],
    async close() {
      closed = true;
      flush();
      await idle.promise;
    },
  };
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
  "select pg_advisory_xact_lock('flights'::regclass::oid::int4, id) from unnest($1::int4[]) as id";

/** Takes the locks of what many want, in the order that all instances keep. */
function lockContended(connection: ReservedSQL, group: readonly Unit[]): Sent[] {
  const wanted = new Set<number>();
  for (const { steps } of group) {
    for (const { statement, values } of steps) {
      // Guarantee: a step is made of a statement and its own values.
      const row = statement.contended?.(values as never);
      if (row !== undefined) wanted.add(row);
    }
  }
  if (wanted.size === 0) return [];
  return [send(connection, lockText, [[...wanted].toSorted((one, other) => one - other)])];
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
    const answer = handled(compile(step.statement)(connection, step.values));
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
      throw unit === null || isStorageFault(error) ? error : new Refused(unit, error);
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
