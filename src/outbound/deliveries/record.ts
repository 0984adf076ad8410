import type { Clock } from "../../base/clock.ts";
import { type Write, write, type WriteResult } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import { unblockNext } from "../model/delivery-order.sql.ts";
import {
  type Destination,
  failedReason,
  goneReason,
  type Health,
  nameInLogs,
} from "../model/destination.ts";
import { disableDestination } from "../model/destinations.sql.ts";
import type { Attempt, FailedAttempt } from "../model/notification.ts";
import { insertFailures } from "../model/notifications.sql.ts";

import { healthWrite } from "./circuit.ts";
import { releaseWrites, type SettledDelivery, settleDeliveries } from "./delivery-queue.sql.ts";
import type { NotificationMetrics } from "./notification-metrics.ts";
import { type Claim, outcomeOf } from "./outcome.ts";
import { goneStatus, type SendResult } from "./send.ts";

export interface RecordParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: NotificationMetrics;
  /** A destination that failed for so long is disabled. Null: none is. */
  readonly disableAfterDays: number | null;
  /** In [0, 1). */
  readonly random: () => number;
  /** The last failures in a row of a destination, as far as this process knows. */
  readonly failuresOf: (id: Destination["id"]) => number;
  /** Called when the health of a destination has changed. */
  readonly onHealth: (id: Destination["id"], health: Health) => void;
  /** Called when a destination was disabled, by this attempt or another one. */
  readonly onDisabled: (id: Destination["id"]) => Promise<void>;
}

/** An attempt that was made. */
export interface MadeAttempt extends Pick<Attempt, "startedAt" | "durationMs"> {
  readonly destination: Destination;
  readonly claim: Claim;
  readonly result: SendResult;
}

/** Stores an attempt and what became of its delivery and its destination. Throws if that is not stored. */
export type RecordAttempt = (made: MadeAttempt) => Promise<void>;

/** An attempt that was stored, and what it changed. */
interface Stored {
  readonly made: MadeAttempt;
  readonly outcome: ReturnType<typeof outcomeOf>;
  /** Undefined if it is unchanged. */
  readonly health: Health | undefined;
  /** Null if it did not disable the destination. */
  readonly disabledReason: string | null;
}

/** How long attempts wait for others that end meanwhile: a commit costs as much as several of them. */
const gatheringMs = 10;
/** The attempts of one transaction, which bounds its locks. */
const maxPerTransaction = 200;

/**
 * Returns how to record the attempts to all destinations. Those that end while earlier ones are being committed share
 * a transaction, because a statement for many rows costs hardly more than one for a single row.
 */
export function recorder(parts: RecordParts): RecordAttempt {
  let waiting: { readonly made: MadeAttempt; readonly ended: PromiseWithResolvers<void> }[] = [];
  let isRunning = false;
  let gathering: ReturnType<typeof setTimeout> | undefined;

  async function storeWaiting(): Promise<void> {
    isRunning = true;
    gathering = undefined;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxPerTransaction);
      waiting = waiting.slice(maxPerTransaction);
      try {
        const stored = await store(
          parts,
          batch.map(({ made }) => made),
        );
        for (const [index, each] of stored.entries())
          batch[index]?.ended.resolve(tell(parts, each));
      } catch (error) {
        for (const { ended } of batch) ended.reject(error);
      }
    }
    isRunning = false;
  }

  return (made) => {
    const ended = Promise.withResolvers<void>();
    waiting.push({ made, ended });
    if (!isRunning) {
      // A failure decides when the next attempt is due, and the next delivery of an order group waits for this one.
      const isUrgent = !made.result.delivered || made.claim.delivery.orderKey !== null;
      if (isUrgent) clearTimeout(gathering);
      if (isUrgent || gathering === undefined) {
        gathering = setTimeout(() => void storeWaiting(), isUrgent ? 0 : gatheringMs);
      }
    }
    return ended.promise;
  };
}

async function store(
  { storage, clock, random, disableAfterDays, failuresOf }: RecordParts,
  batch: readonly MadeAttempt[],
): Promise<readonly Stored[]> {
  const now = clock.now();
  const failing = new Set(
    batch.filter(({ result }) => !result.delivered).map(({ destination }) => destination.id),
  );
  const hasFailed = (id: Destination["id"]) => failing.has(id) || failuresOf(id) > 0;
  const outcomes = new Map(
    batch.map((made) => {
      const { retryDelays } = made.destination;
      return [made, outcomeOf(made.claim, made.result, retryDelays, now, random())];
    }),
  );
  const settled = [...outcomes].map(([made, outcome]) => settledBy(made, outcome));
  const failed = batch.filter(({ result }) => !result.delivered);
  const ending = [...outcomes].filter(([, { dueAt }]) => dueAt === null);
  // A message that no destination can receive says nothing about the health of this one.
  const messages = withoutRepeatedMessage(batch).filter(
    ({ result }) => !result.isFinal || result.responseStatus !== null,
  );
  const reasons = new Map(
    messages.flatMap((made) => {
      const reason = disabledReasonOf(made, disableAfterDays, now);
      return reason === null ? [] : [[made, reason] as const];
    }),
  );
  // A success says nothing new of a destination that is healthy, as far as no other instance knows better.
  const rated = withoutRepeatedSuccess(messages).filter(
    ({ destination, result }) =>
      storage.signals !== null || !result.delivered || hasFailed(destination.id),
  );
  const results = await storage.atomically(
    write(settleDeliveries, { settled }),
    ...(failed.length > 0 ? [write(insertFailures, { attempts: failed.map(failureOf) })] : []),
    // If it was rescheduled during the failed attempt, it is due at once.
    ...releaseWrites(failed.map(({ claim }) => claim.delivery)),
    ...ending.flatMap(([made]) => unblocking(made, now)),
    ...Array.from(reasons, ([{ destination }, reason]) => disabling(destination, reason, now)),
    ...rated.map(({ destination, result, claim }) =>
      healthWrite(
        { id: destination.id, hasFailed: hasFailed(destination.id) },
        result,
        now,
        claim.isProbe ? claim.claimedMs : null,
      ),
    ),
  );
  const last = results.slice(results.length - reasons.size - rated.length);
  const disabled = [...reasons].filter((_, index) => last[index]?.changes === 1);
  const reasonOf = new Map(disabled);
  // Guarantee: the last writes are those of `healthWrite`, whose rows are healths.
  const healths = last.slice(reasons.size) as readonly WriteResult<Health>[];
  const healthOf = new Map(rated.map((made, index) => [made, healths[index]?.rows[0]]));
  return [...outcomes].map(([made, outcome]) => ({
    made,
    outcome,
    health: healthOf.get(made),
    disabledReason: reasonOf.get(made) ?? null,
  }));
}

/** What the delivery keeps of an attempt that failed, which is stored by itself. */
const noSuccess = { startedAt: null, durationMs: null, responseStatus: null };

function settledBy(made: MadeAttempt, outcome: Stored["outcome"]): SettledDelivery {
  const { claim, startedAt, durationMs, result } = made;
  const { event, notification, destination, leasedUntil, attemptCount } = claim.delivery;
  const { responseStatus } = result;
  const success = result.delivered ? { startedAt, durationMs, responseStatus } : noSuccess;
  const lease = { event, notification, destination, leasedUntil };
  return { ...lease, ...outcome, ...success, earlierAttempts: attemptCount };
}

function failureOf({ claim, startedAt, durationMs, result }: MadeAttempt): FailedAttempt {
  const { notification, destination } = claim.delivery;
  const { responseStatus, error } = result;
  return { notification, destination, startedAt, durationMs, responseStatus, error };
}

/** The deliveries of a message have one result: for the health it counts once. */
function withoutRepeatedMessage(batch: readonly MadeAttempt[]): readonly MadeAttempt[] {
  return [...new Map(batch.map((made) => [made.result, made])).values()];
}

const dayMs = 24 * 3_600_000;

/** Why the destination of a failed attempt is disabled now; null if it is not. */
function disabledReasonOf(
  { destination: { failingSince }, result }: MadeAttempt,
  afterDays: number | null,
  nowMs: number,
): string | null {
  if (result.responseStatus === goneStatus) return goneReason;
  if (result.delivered || failingSince === null || afterDays === null) return null;
  return nowMs - failingSince.getTime() >= afterDays * dayMs ? failedReason(afterDays) : null;
}

/** Of successes in a row, the first says all of the health. */
function withoutRepeatedSuccess(batch: readonly MadeAttempt[]): readonly MadeAttempt[] {
  const succeeded = new Map<Destination["id"], boolean>();
  return batch.filter(({ destination: { id }, result: { delivered } }) => {
    const isRepeated = delivered && succeeded.get(id) === true;
    succeeded.set(id, delivered);
    return !isRepeated;
  });
}

/** The next delivery with the order key keeps its attempts if this one died without using up its own. */
function unblocking(
  { claim: { delivery }, result }: MadeAttempt,
  now: number,
): readonly Write<never>[] {
  const { delivered, isFinal } = result;
  const afterDead = !delivered && (delivery.afterDead || !isFinal);
  return unblockNext(delivery, new Date(now), { afterDead });
}

/** Changes nothing if the destination was changed since this attempt began: its address may be another one. */
function disabling(
  { id, updatedAt: before }: Destination,
  disabledReason: string,
  nowMs: number,
): Write<never> {
  const updatedAt = new Date(Math.max(nowMs, before.getTime() + 1));
  return write(disableDestination, { id, before, updatedAt, disabledReason });
}

async function tell(parts: RecordParts, { made, outcome, health, disabledReason }: Stored) {
  const { metrics, log, onHealth, onDisabled } = parts;
  const { destination, claim, result, durationMs } = made;
  const { delivered, error, responseStatus } = result;
  metrics.attempted(destination, delivered ? "delivered" : "failed", durationMs / 1_000);
  const name = nameInLogs(destination);
  const { status, attemptCount: attempt } = outcome;
  const fields = { id: claim.notificationId, destination: name, attempt, error };
  if (!delivered) log.warn(fields, `notification ${status}`);
  if (health !== undefined) onHealth(destination.id, health);
  if (disabledReason !== null) {
    log.warn({ destination: name, reason: disabledReason }, "destination disabled");
  }
  // Before its queue looks for more.
  if (disabledReason !== null || responseStatus === goneStatus) await onDisabled(destination.id);
}
