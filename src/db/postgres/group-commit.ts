import type { ReservedSQL, SQL } from "bun";

import type { Step, StepResult } from "../statement.ts";
import type { Storage, StorageObserver } from "../storage.ts";
import { maxUnitsPerCommit, refusal, type Unit } from "../transaction.ts";

import { answered, isOfRows, Silence, unavailable } from "./faults.ts";
import type { Compile } from "./compile.ts";
import { whilePassing } from "./retry.ts";
import { maxStepsPerWave, type Progress, Refused, runGroup } from "./transaction.ts";

export interface GroupCommitLimits {
  /** Transactions under way at a time, each on a connection of its own. */
  readonly transactions: number;
  /** How long a group is tried again after a passing fault before it is refused. */
  readonly retryMs: number;
  /** How long the server may give no answer before the connection is given up. */
  readonly silenceMs: number;
}

/** For this long after rows could not be written, units without steps fail too. */
const faultMemoryMs = 5_000;

/**
 * Commits units of work in groups. Units that wait share one transaction, and their statements are sent
 * without waiting for each other's answers: a group costs the round trips and the sync of one unit. A
 * unit that fails half-way undoes the group; then it runs by itself, and the others together once more.
 */
export function groupCommit(
  pool: SQL,
  compile: Compile,
  observer: StorageObserver,
  limits: GroupCommitLimits,
): { atomically: Storage["atomically"]; close(): Promise<void> } {
  let waiting: Unit[] = [];
  let scheduled = false;
  let underWay = 0;
  let closed = false;
  const idle = Promise.withResolvers<void>();
  /** Why and when rows could not be written; null when they could since. */
  let lastFault: { readonly error: unknown; readonly atMs: number } | null = null;

  function enqueue(steps: readonly Step<unknown>[]): Promise<StepResult<unknown>[]> {
    const refused = refusal(closed, waiting.length);
    if (refused !== null) return Promise.reject(refused);
    // Without steps it asks whether units succeed, and with a full disk only real ones can tell.
    if (steps.length === 0 && lastFault && performance.now() - lastFault.atMs < faultMemoryMs) {
      return Promise.reject(unavailable(lastFault.error));
    }
    return new Promise((resolve, reject) => {
      waiting.push({ steps, resolve, reject, ended: observer.unitWaits() });
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
    const startedMs = performance.now();
    try {
      const tried = await whilePassing(limits.retryMs, () => tryOnce(group));
      const failed = tried.filter(({ error }) => error !== null);
      const undone = failed.some(({ next }) => next > 1);
      if (undone && group.length > 1) {
        const passed = tried.filter(({ error }) => error === null);
        await settle(passed.map(({ unit }) => unit));
        for (const { unit } of failed) await settle([unit]);
        return;
      }
      if (tried.some(({ next }) => next > 0)) lastFault = null;
      observer.groupCommitted((performance.now() - startedMs) / 1_000, group.length);
      for (const { unit, results, error } of tried) {
        unit.ended?.(group.length, error);
        if (error === null) unit.resolve(results);
        else unit.reject(error);
      }
    } catch (error) {
      if (error instanceof Refused && group.length > 1) {
        await settle(group.filter((unit) => unit !== error.unit));
        await settle([error.unit]);
        return;
      }
      const fault = error instanceof Refused ? error.cause : error;
      if (isOfRows(fault)) lastFault = { error: fault, atMs: performance.now() };
      const reason = unavailable(fault);
      observer.groupCommitted((performance.now() - startedMs) / 1_000, group.length);
      for (const unit of group) {
        unit.ended?.(group.length, reason);
        unit.reject(reason);
      }
    }
  }

  /** Never runs a group again of which a commit may have been made: that is no fault that passes. */
  async function tryOnce(group: readonly Unit[]): Promise<readonly Progress[]> {
    const connection = await reserve();
    const giveUp = () => void connection.close({ timeout: 0 });
    try {
      return await answered(runGroup(connection, compile, group), silenceOf(group), giveUp);
    } catch (error) {
      // The server may have ended the transaction already, or the connection be gone.
      await answered(connection.unsafe("rollback"), limits.silenceMs, giveUp).catch(() => {});
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
