import type { Clock } from "../../base/clock.ts";
import { AppError, errorMessage } from "../../base/errors.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import {
  endRun,
  insertReconciliation,
  reconciliationOf,
  saveProgress,
} from "../model/reconciliation.sql.ts";
import { firstReconciliation, type Reconciliation } from "../model/reconciliation.ts";
import { ApiError } from "../provider-api/api-error.ts";
import type { Registry } from "../providers/registry.ts";
import type { Recover } from "../receive/recover.ts";

import { compareLog, type Counts, noCounts, type Report, sumOf } from "./compare-log.ts";
import { type Lease, leaseLog } from "./lease.ts";
import type { LogAccess, LogKind } from "./provider-log.ts";
import { providerLogOf } from "./provider-logs.ts";
import type { ReconcileMetrics, RunStatus } from "./reconcile-metrics.ts";

export interface RunOptions {
  /** Compares the log from this time on, instead of from where the last run ended. */
  readonly since?: Date;
  /** Finds what is missing, and changes nothing. */
  readonly isDryRun?: boolean;
  /** Ends the run. The next one continues. */
  readonly signal: AbortSignal;
  readonly report?: Report;
}

export interface RunResult {
  readonly status: RunStatus;
  readonly counts: Counts;
  /** Why it failed, and what to do. */
  readonly error: string | null;
  /** When a paused run can continue. */
  readonly retryAt: Date | null;
}

type RunEnd = Pick<RunResult, "status" | "error" | "retryAt">;

export interface Reconciler {
  /** Whether the provider is registered, has a log, and the settings name it. */
  isConfigured(provider: string): boolean;
  /** Compares the provider's log with what is stored, and recovers what is missing. Throws if it is not configured. */
  run(provider: string, options: RunOptions): Promise<RunResult>;
}

interface ReconcilerParts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly recover: Recover;
  /** How to read the log of a provider, as configured now; null if it is not. */
  readonly accessOf: (provider: string) => LogAccess | null;
  readonly metrics: ReconcileMetrics;
  /** The time between runs. */
  readonly intervalMs: number;
  /** How long events are kept. Older requests are not compared: that they arrived may be forgotten. */
  readonly retentionDays: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** After a failed run the next one is due sooner. */
const failedRunDelayMs = 5 * 60_000;
/** Compared again, since entries appear after they were sent, and by the provider's clock. */
const overlapMs = 3_600_000;
const dayMs = 86_400_000;

export function reconciler(parts: ReconcilerParts): Reconciler {
  const { storage, registry, accessOf, metrics, intervalMs, clock, log } = parts;

  function open(provider: string, signal: AbortSignal) {
    const kind = providerLogOf(provider);
    const registered = registry.get(provider);
    const access = accessOf(provider);
    const opened = access === null ? null : kind?.open(access, { clock, signal });
    return kind && registered && opened ? { kind, registered, log: opened } : null;
  }

  async function stateOf(provider: string): Promise<Reconciliation> {
    const [row] = await storage.all(reconciliationOf, { provider });
    return row ?? firstReconciliation(provider);
  }

  async function run(provider: string, options: RunOptions): Promise<RunResult> {
    const { page } = await stateOf(provider);
    const first = await runOnce(provider, options);
    const isResumed = page !== null && options.since === undefined && options.isDryRun !== true;
    if (!isResumed || first.status !== "complete") return first;
    // It continued an interrupted run. What came since is compared now.
    const rest = await runOnce(provider, options);
    return { ...rest, counts: sumOf(first.counts, rest.counts) };
  }

  async function runOnce(provider: string, options: RunOptions): Promise<RunResult> {
    if (options.isDryRun === true) return runWith(null, provider, options);
    await storage.atomically(write(insertReconciliation, firstReconciliation(provider)));
    const lease = await leaseLog(storage, clock, provider);
    if (lease === null) return { status: "busy", counts: noCounts(), error: null, retryAt: null };
    try {
      const result = await runWith(lease, provider, options);
      metrics.ran(provider, result.status);
      return result;
    } finally {
      await lease.release();
    }
  }

  async function runWith(
    lease: Lease | null,
    provider: string,
    options: RunOptions,
  ): Promise<RunResult> {
    const signal = lease === null ? options.signal : AbortSignal.any([options.signal, lease.lost]);
    const opened = open(provider, signal);
    if (opened === null) throw new Error(`The log of ${provider} is not configured`);
    const now = new Date(clock.now());
    const stored = await stateOf(provider);
    // A dry run continues none.
    const state = lease === null ? { ...stored, ...noProgress } : stored;
    const counts = noCounts();
    if (state.pausedUntil !== null && state.pausedUntil > now) {
      return { status: "paused", counts, error: null, retryAt: state.pausedUntil };
    }
    // A day less, since retention and this run do not happen at the same moment.
    const days = Math.min(opened.kind.keptDays, parts.retentionDays - 1);
    const plan = planOf(new Date(now.getTime() - days * dayMs), state, options, now);
    let progress: Progress = { page: state.page, runUntil: state.runUntil };
    let saved = 0;
    let firstError: string | null = null;

    /** What was recovered since the last call. */
    function unsaved(): number {
      const recovered = counts.recovered - saved;
      saved = counts.recovered;
      return recovered;
    }

    async function end(result: RunEnd): Promise<RunResult> {
      if (lease === null) return { ...result, counts };
      // After a failure the next run begins again, to read what failed.
      const kept = result.status === "failed" ? noProgress : progress;
      await storage.atomically(
        write(saveProgress, { provider, ...kept, recovered: unsaved() }),
        ...endWrites(lease, state, result, plan),
      );
      logEnd(provider, counts, result);
      return { ...result, counts };
    }

    try {
      await compareLog({
        ...parts,
        log: opened.log,
        provider: opened.registered.provider,
        from: plan.from,
        page: plan.page,
        isDryRun: lease === null,
        signal,
        report(entry, outcome, why) {
          counts[outcome] += 1;
          if (outcome === "failed") firstError ??= why;
          if (outcome === "failed" || outcome === "unreadable") {
            const { deliveryId, type } = entry;
            log.warn({ provider, deliveryId, type, why }, `logged webhook ${outcome}`);
          }
          options.report?.(entry, outcome, why);
        },
        async onPage(next) {
          if (lease === null) return;
          progress = counts.failed > 0 ? noProgress : plan.after(next);
          await storage.atomically(
            write(saveProgress, { provider, ...progress, recovered: unsaved() }),
          );
        },
      });
    } catch (error) {
      if (options.signal.aborted) return end({ status: "stopped", error: null, retryAt: null });
      if (signal.aborted) return end({ status: "busy", error: null, retryAt: null });
      if (error instanceof ApiError && error.retryAtMs !== null) {
        return end({ status: "paused", error: null, retryAt: new Date(error.retryAtMs) });
      }
      return end({ status: "failed", error: messageOf(error, opened.kind), retryAt: null });
    }
    if (counts.failed === 0) return end({ status: "complete", error: null, retryAt: null });
    const error = `${counts.failed} webhooks cannot be read: ${firstError}`;
    return end({ status: "failed", error, retryAt: null });
  }

  /** The writes that record the end of a run. None if it was interrupted: it is still due. */
  function endWrites(
    { holder }: Lease,
    { provider, coveredUntil, succeededAt }: Reconciliation,
    { status, error, retryAt }: RunEnd,
    plan: Plan,
  ): readonly Write<never>[] {
    if (status === "stopped" || status === "busy") return [];
    const checkedAt = new Date(clock.now());
    const delayMs = status === "failed" ? Math.min(intervalMs, failedRunDelayMs) : intervalMs;
    const isComplete = status === "complete";
    return [
      write(endRun, {
        provider,
        leasedBy: holder,
        coveredUntil: isComplete ? plan.coveredUntil : coveredUntil,
        nextRunAt: retryAt ?? new Date(checkedAt.getTime() + delayMs),
        pausedUntil: retryAt,
        checkedAt,
        succeededAt: isComplete ? checkedAt : succeededAt,
        error,
      }),
    ];
  }

  function logEnd(provider: string, counts: Counts, { status, error, retryAt }: RunEnd): void {
    if (error !== null) log.warn({ provider, error }, "reconciliation failed; retrying");
    else if (status === "paused")
      log.info({ provider, retryAt }, "reconciliation paused: rate limit");
    else {
      const { recovered, stored } = counts;
      log.info({ provider, recovered, stored }, `reconciliation ${status}`);
    }
  }

  return {
    isConfigured: (provider) => open(provider, new AbortController().signal) !== null,
    run,
  };
}

/** Where an unfinished run continues. */
type Progress = Pick<Reconciliation, "page" | "runUntil">;
const noProgress: Progress = { page: null, runUntil: null };

/** What a run compares. */
interface Plan {
  readonly from: Date;
  readonly page: string | null;
  /** The `coveredUntil` after a complete run. */
  readonly coveredUntil: Date | null;
  /** The progress after a page. */
  readonly after: (next: string | null) => Progress;
}

/** `kept`: the time from which on requests can be compared. */
function planOf(
  kept: Date,
  { coveredUntil, page, runUntil }: Reconciliation,
  { since }: RunOptions,
  now: Date,
): Plan {
  const later = (time: Date) => new Date(Math.max(kept.getTime(), time.getTime()));
  if (since !== undefined) {
    const from = later(since);
    // With a gap before it, an earlier run still has to continue.
    const hasGap = from > (coveredUntil ?? kept);
    return {
      from,
      page: null,
      coveredUntil: hasGap ? coveredUntil : now,
      after: () => (hasGap ? { page, runUntil } : noProgress),
    };
  }
  const until = runUntil ?? now;
  return {
    from: coveredUntil === null ? kept : later(new Date(coveredUntil.getTime() - overlapMs)),
    page,
    coveredUntil: until,
    after: (next) => (next === null ? noProgress : { page: next, runUntil: until }),
  };
}

/** What happened, and what to do. */
function messageOf(error: unknown, kind: LogKind): string {
  if (error instanceof AppError) return `${error.code}: ${error.detail}`;
  const message = errorMessage(error);
  if (!(error instanceof ApiError)) return message;
  const [token, ...others] = kind.variables;
  if (error.status === 401) return `${message}. Set ${token} to a new token: ${kind.permission}`;
  if (error.status === 403 || error.status === 404) {
    const names = [...others, `that ${token} has the permission: ${kind.permission}`];
    return `${message}. Check ${names.join(", and ")}`;
  }
  return message;
}
