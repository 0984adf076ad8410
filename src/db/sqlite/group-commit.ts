import type { Database } from "bun:sqlite";

import type { Step, StepResult } from "../statement.ts";
import type { Storage, StorageObserver } from "../storage.ts";
import { leftOut, maxUnitsPerCommit, refusal, type Unit } from "../transaction.ts";

import { isLocked, isStorageFault, unavailable } from "./faults.ts";
import type { Compile } from "./compile.ts";

/** What a unit came to: what each step did, or the error that undid it. */
type Outcome = { readonly results: StepResult<unknown>[] } | { readonly error: unknown };

/** How long units wait for another process's lock before they are refused. */
const lockPatienceMs = 2_000;
const lockRetryMs = 20;
/** For this long after a commit failed, units without steps fail too. */
const faultMemoryMs = 5_000;

/**
 * Commits units of work in groups: those that arrive in one turn of the event loop share one
 * transaction and one fsync, which is 5–6 times faster than one each. Units are data, so a group is
 * first run without savepoints; only if a unit fails half-way is it undone and run again with one
 * savepoint a unit, so that one failure undoes only itself. `requireInPlace` throws when what is
 * committed would not be found again.
 */
export function groupCommit(
  client: Database,
  compile: Compile,
  requireInPlace: () => void,
  observer: StorageObserver,
): { atomically: Storage["atomically"]; close(): Promise<void> } {
  let waiting: Unit[] = [];
  let scheduled = false;
  let closed = false;
  let lockedSince: number | null = null;
  /** Why and when the last commit failed; null when it did not. */
  let lastFault: { readonly error: unknown; readonly atMs: number } | null = null;

  function enqueue(steps: readonly Step<unknown>[]): Promise<StepResult<unknown>[]> {
    const refused = refusal(closed, waiting.length);
    if (refused !== null) return Promise.reject(refused);
    // Without steps it asks whether units succeed, and on a full disk only real ones can tell.
    if (steps.length === 0 && lastFault && performance.now() - lastFault.atMs < faultMemoryMs) {
      return Promise.reject(unavailable(lastFault.error));
    }
    return new Promise((resolve, reject) => {
      waiting.push({ steps, resolve, reject, ended: observer.unitWaits() });
      schedule();
    });
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    scheduled = false;
    const group = waiting.slice(0, maxUnitsPerCommit);
    if (group.length === 0) return;
    const startedMs = performance.now();
    if (!beginOrWait()) return;
    waiting = waiting.slice(group.length);
    const outcomes = commit(group);
    observer.groupCommitted((performance.now() - startedMs) / 1_000, group.length);
    settle(group, outcomes);
    if (waiting.length > 0) schedule();
  }

  /** Takes the write lock. Another process may hold it: tries again later, without holding the loop. */
  function beginOrWait(): boolean {
    try {
      // Left open when a failing disk refused even to roll back.
      if (client.inTransaction) client.run("rollback");
      requireInPlace();
      client.run("begin immediate");
      lockedSince = null;
      return true;
    } catch (error) {
      lockedSince ??= performance.now();
      if (isLocked(error) && performance.now() - lockedSince < lockPatienceMs) {
        scheduled = true;
        setTimeout(flush, lockRetryMs);
      } else {
        lockedSince = null;
        const refused = waiting;
        waiting = [];
        settle(
          refused,
          refused.map(() => ({ error: unavailable(error) })),
        );
      }
      return false;
    }
  }

  /** Runs and commits a group, inside the transaction that is open. */
  function commit(group: readonly Unit[]): Outcome[] {
    try {
      let outcomes = runAll(group);
      if (outcomes === "half-done") {
        client.run("rollback");
        client.run("begin immediate");
        outcomes = group.map(runWithSavepoint);
      }
      client.run("commit");
      lastFault = null;
      return outcomes;
    } catch (error) {
      lastFault = { error, atMs: performance.now() };
      rollback();
      return group.map(() => ({ error: unavailable(error) }));
    }
  }

  function rollback(): void {
    try {
      if (client.inTransaction) client.run("rollback");
    } catch {
      // A full or failing disk may already have undone it: nothing is left to undo.
    }
  }

  function runAll(group: readonly Unit[]): Outcome[] | "half-done" {
    const outcomes: Outcome[] = [];
    for (const unit of group) {
      const outcome = run(unit);
      if ("error" in outcome && outcome.stepsDone > 0) return "half-done";
      outcomes.push(outcome);
    }
    return outcomes;
  }

  function runWithSavepoint(unit: Unit): Outcome {
    client.run("savepoint unit");
    const outcome = run(unit);
    if ("error" in outcome) client.run("rollback to unit");
    client.run("release unit");
    return outcome;
  }

  /** Runs the steps of one unit. A fault of the storage itself is thrown: it concerns the whole group. */
  function run(unit: Unit): Outcome & { stepsDone: number } {
    const results = unit.steps.map(() => leftOut);
    for (const [index, step] of unit.steps.entries()) {
      try {
        const result = compile(step.statement)(step.values);
        if (result.touched === 0 && step.ifNone !== undefined) {
          if (step.ifNone === "stop") break;
          return { error: step.ifNone, stepsDone: index };
        }
        results[index] = result;
      } catch (error) {
        if (isStorageFault(error)) throw error;
        return { error, stepsDone: index };
      }
    }
    return { results, stepsDone: unit.steps.length };
  }

  return {
    // Guarantee: enqueue resolves with one result for each step, made of that step's own rows.
    atomically: ((...steps: Step<unknown>[]) => enqueue(steps)) as Storage["atomically"],
    async close() {
      closed = true;
      if (waiting.length === 0) return;
      // Settled after all that wait before it.
      await new Promise<void>((resolve) => {
        const settled = () => resolve();
        waiting.push({ steps: [], resolve: settled, reject: settled, ended: null });
      });
    },
  };
}

function settle(group: readonly Unit[], outcomes: readonly Outcome[]): void {
  for (const [index, unit] of group.entries()) {
    const outcome = outcomes[index];
    if (unit.ended !== null) {
      unit.ended(group.length, outcome && "error" in outcome ? outcome.error : null);
    }
    if (outcome === undefined) unit.reject(new Error("A unit of work has no outcome"));
    else if ("error" in outcome) unit.reject(outcome.error);
    else unit.resolve(outcome.results);
  }
}
