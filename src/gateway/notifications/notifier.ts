import type { Cancel, Clock } from "../../base/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Event } from "../event.ts";
import { eventById, headersOf } from "../event.sql.ts";
import {
  bringForward,
  claimDue,
  insertAttempt,
  nextDue,
  releaseLeases,
  releaseNotification,
  settleNotification,
} from "./notifications.sql.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { storedTrace } from "../../telemetry/tracing/stored-trace.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";

import type { Gateway, Sendable, SendResult } from "./channels/gateway.ts";
import { longestRetryAfterMs, nextRetryMs, type StoredNotification } from "../notification.ts";
import type { NotificationMetrics } from "./notification-metrics.ts";

/**
 * Delivers due notifications to the operator gateway: claim, send, record. A claim is a lease: if the
 * process dies meanwhile, the notification is due again when the lease ends. So it may be sent twice, but
 * is never lost.
 */
export interface Notifier {
  start(): Promise<void>;
  /** Looks for due notifications soon. Cheap enough to call on every commit. */
  wake(): void;
  /** Claims no more notifications and waits up to `patienceMs` for running deliveries. */
  stop(patienceMs: number): Promise<void>;
}

interface Parts {
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: NotificationMetrics;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  /** In [0, 1). */
  readonly random: () => number;
}

type Claimed = Sendable &
  Pick<StoredNotification, "seq" | "eventId" | "attemptCount" | "leasedUntil">;

const maxInFlight = 16;
/** Longer than the longest attempt. */
const leaseMs = 30_000;
/** The longest time between two looks at the database. */
const longestSleepMs = 30_000;
/** Smaller backward jumps of the clock only delay notifications by as much. */
const noticedJumpMs = 30_000;

export function notifier(parts: Parts): Notifier {
  const { storage, clock, log } = parts;
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  let looking = false;
  let looked = Promise.resolve();
  let lookAgain = false;
  let stopped = true;
  let cancelSleep: Cancel = () => {};
  /** Time of the last look. */
  let lookedAtMs = 0;

  function wake(): void {
    if (stopped) return;
    if (looking) lookAgain = true;
    else looked = look();
  }

  /** Looks for due notifications. Never runs twice at the same time. */
  async function look(): Promise<void> {
    looking = true;
    cancelSleep();
    try {
      do {
        lookAgain = false;
        await noticeBackwardJump();
        await claimAndSend();
        await sleepUntilDue();
      } while (lookAgain && !stopped);
    } catch (error) {
      log.error({ err: error }, "failed to read due notifications; retrying");
      sleep(1_000);
    } finally {
      looking = false;
    }
  }

  /** Sends waiting notifications at once after the clock was set back, which would otherwise delay them. */
  async function noticeBackwardJump(): Promise<void> {
    const now = clock.now();
    if (lookedAtMs - now > noticedJumpMs) {
      const heldAfter = new Date(now + leaseMs);
      const values = { now: new Date(now), dueAfter: new Date(now), heldAfter };
      await storage.atomically(write(bringForward, values));
      log.warn("clock set back; sending waiting notifications now; check NTP");
    }
    lookedAtMs = now;
  }

  async function claimAndSend(): Promise<void> {
    const limit = maxInFlight - inFlight.size;
    if (limit === 0 || stopped) return;
    const now = clock.now();
    const lease = { now: new Date(now), leasedUntil: new Date(now + leaseMs), limit };
    const [claimed] = await storage.atomically(write(claimDue, lease));
    for (const notification of claimed.rows) {
      const delivery = deliver(parts, notification, stopping.signal);
      inFlight.add(delivery);
      void delivery.finally(() => {
        inFlight.delete(delivery);
        wake();
      });
    }
    if (claimed.rows.length === limit) lookAgain = inFlight.size < maxInFlight;
  }

  async function sleepUntilDue(): Promise<void> {
    // At the concurrency limit, the end of a delivery wakes the notifier.
    if (stopped || inFlight.size >= maxInFlight) return;
    const [next] = await storage.all(nextDue, { after: new Date(clock.now()) });
    sleep(next?.dueAt ? next.dueAt.getTime() - clock.now() : longestSleepMs);
  }

  function sleep(ms: number): void {
    if (stopped) return;
    cancelSleep();
    cancelSleep = clock.after(Math.min(Math.max(ms, 10), longestSleepMs), wake);
  }

  return {
    async start() {
      // Single process: remaining leases are stale. With several instances, leases may be in use.
      if (storage.signals === null) await storage.atomically(write(releaseLeases, {}));
      const now = clock.now();
      // No delay is longer, unless the clock was set back since it began.
      const latest = new Date(now + longestRetryAfterMs);
      await storage.atomically(
        write(bringForward, { now: new Date(now), dueAfter: latest, heldAfter: latest }),
      );
      stopped = false;
      wake();
    },
    wake,
    async stop(patienceMs) {
      stopped = true;
      cancelSleep();
      const cancelPatience = clock.after(patienceMs, () => stopping.abort());
      // A running claim may still add deliveries.
      await looked;
      await Promise.all(inFlight);
      cancelPatience();
    },
  };
}

async function deliver(parts: Parts, notification: Claimed, signal: AbortSignal): Promise<void> {
  const { storage, clock, log, metrics, random } = parts;
  try {
    const [event] = await storage.all(eventById, { id: notification.eventId });
    if (event === undefined) throw new Error(`Event ${notification.eventId} does not exist`);
    const startedAt = new Date(clock.now());
    const result = await sendTraced(parts, notification, event, signal);
    // Interrupted by the stop, which is not an error of the gateway. The next start sends it again.
    if (signal.aborted && !result.delivered) return;
    const outcome = outcomeOf(notification, result, clock.now(), random());
    const { delivered, responseStatus, error } = result;
    const lease = { seq: notification.seq, leasedUntil: notification.leasedUntil };
    await storage.atomically(
      write(insertAttempt, {
        notificationId: notification.id,
        startedAt,
        // The clock may have been set back meanwhile.
        durationMs: Math.max(0, clock.now() - startedAt.getTime()),
        delivered,
        responseStatus,
        error,
      }),
      write(settleNotification, {
        ...lease,
        ...outcome,
        earlierAttempts: notification.attemptCount,
      }),
      // If it was rescheduled during the failed attempt, it is due at once.
      ...(delivered ? [] : [write(releaseNotification, lease)]),
    );
    metrics.attempted(delivered ? "delivered" : "failed");
    const fields = { id: notification.id, attempt: outcome.attemptCount, error };
    if (!delivered) log.warn(fields, `notification ${outcome.status}`);
  } catch (error) {
    // It is sent again when the lease ends.
    log.error({ id: notification.id, err: error }, "failed to record delivery; retrying");
  }
}

/** Sends in a separate span, in the trace of the request that created the event. */
async function sendTraced(
  { storage, gateway, tracer }: Parts,
  notification: Claimed,
  event: Event,
  signal: AbortSignal,
): Promise<SendResult> {
  if (tracer === null) return gateway.send(notification, event, null, signal);
  const [kept] = await storage.all(headersOf, { id: event.id });
  const origin = storedTrace(kept?.headers ?? null);
  const span = tracer.start("notification delivery", {
    kind: "client",
    parent: origin,
    attributes: {
      "http.request.method": "POST",
      "http.request.resend_count": notification.attemptCount,
      "cloudevents.event_id": event.id,
    },
  });
  const result = await gateway.send(notification, event, { origin, attempt: span.context }, signal);
  const { delivered, responseStatus: status } = result;
  if (status !== null) span.set({ "http.response.status_code": status });
  // An attempt interrupted by the stop is not an error.
  const error = { type: String(status ?? "no-answer"), isServerError: !signal.aborted };
  span.end(delivered ? undefined : error);
  return result;
}

/** The state of a notification after an attempt. */
function outcomeOf(
  { attemptCount: earlier }: Claimed,
  { delivered, error, retryAfterMs }: SendResult,
  nowMs: number,
  random: number,
): Pick<StoredNotification, "status" | "attemptCount" | "dueAt" | "deliveredAt" | "lastError"> {
  const attemptCount = earlier + 1;
  if (delivered) {
    const deliveredAt = new Date(nowMs);
    return { status: "delivered", attemptCount, dueAt: null, deliveredAt, lastError: null };
  }
  const delayMs = nextRetryMs(attemptCount, retryAfterMs, random);
  const failed = { attemptCount, deliveredAt: null, lastError: error };
  if (delayMs === null) return { ...failed, status: "dead", dueAt: null };
  return { ...failed, status: "retrying", dueAt: new Date(nowMs + delayMs) };
}
