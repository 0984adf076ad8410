import type { Clock } from "../../base/clock.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { eventById, headersOf } from "../../event/event.sql.ts";
import type { Event } from "../../event/event.ts";
import type { Log } from "../../telemetry/log.ts";
import { storedTrace } from "../../telemetry/tracing/stored-trace.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";
import { nextInLine } from "../delivery-order.sql.ts";
import type { OutgoingDelivery } from "../delivery.ts";
import { type Destination, goneReason, type Health, nameInLogs } from "../destination.ts";
import { disableDestination } from "../destinations.sql.ts";
import type { SentNotification } from "../formats/format.ts";
import { type Attempt, nextRetryMs } from "../notification.ts";
import { insertAttempt, summaryWrites } from "../notifications.sql.ts";

import { healthWrite } from "./circuit.ts";
import {
  type ClaimedDelivery,
  notificationById,
  releaseDelivery,
  settleDelivery,
} from "./delivery-queue.sql.ts";
import type { CachedDestination } from "./destination-cache.ts";
import type { NotificationMetrics } from "./notification-metrics.ts";
import type { SendResult } from "./send.ts";

export interface AttemptParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: NotificationMetrics;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  /** In [0, 1). */
  readonly random: () => number;
  /** Called when the health of a destination has changed. */
  readonly onHealth: (id: Destination["id"], health: Health) => void;
  /** Called when a destination was disabled, by this attempt or another one. */
  readonly onDisabled: (id: Destination["id"]) => Promise<void>;
}

/** Statuses after which no retry can succeed (RFC 9110, 15.5.11 and 15.5.14). */
const gone = 410;
const tooLarge = 413;
const isFinal = (status: number | null) => status === gone || status === tooLarge;

/** A larger difference between the clock and the time that passed is a jump of the clock. */
const leastJumpMs = 1_000;

/** A delivery that was claimed, to be attempted once. */
interface Claim {
  readonly delivery: ClaimedDelivery;
  readonly claimedMs: number;
  /** It was claimed to find out whether the destination answers again. */
  readonly isProbe: boolean;
  /** Called when it is sent. */
  readonly onSend: () => void;
}

/** Sends a delivery and records the outcome. Never throws. */
export async function attempt(
  parts: AttemptParts,
  cached: CachedDestination,
  claim: Claim,
  signal: AbortSignal,
): Promise<void> {
  const { storage, clock, log } = parts;
  const { notificationId, eventId, attemptCount } = claim.delivery;
  try {
    const [[event], [notification]] = await Promise.all([
      storage.all(eventById, { id: eventId }),
      storage.all(notificationById, { id: notificationId, eventId }),
    ]);
    if (event === undefined || notification === undefined) {
      throw new Error(`Notification ${notificationId} does not exist`);
    }
    const startedAt = new Date(clock.now());
    const startedMs = performance.now();
    claim.onSend();
    const result = await sendTraced(parts, cached, notification, event, attemptCount, signal);
    // Interrupted by the stop, which is not an error of the destination. The next start sends it again.
    if (signal.aborted && !result.delivered) return;
    // The clock may have been set back meanwhile, or have jumped forward: the attempt did not take that long.
    const tookMs = Math.ceil(performance.now() - startedMs);
    const elapsedMs = Math.max(0, clock.now() - startedAt.getTime());
    const durationMs = elapsedMs > tookMs + leastJumpMs ? tookMs : elapsedMs;
    await record(parts, cached, claim, { startedAt, durationMs, result });
  } catch (error) {
    // It is sent again when the lease ends.
    log.error({ id: notificationId, err: error }, "failed to record delivery; retrying");
  }
}

interface Made extends Pick<Attempt, "startedAt" | "durationMs"> {
  readonly result: SendResult;
}

/** Stores an attempt and what became of its delivery and its destination, in one transaction. */
async function record(
  { storage, clock, log, metrics, random, onHealth, onDisabled }: AttemptParts,
  { destination }: CachedDestination,
  claim: Claim,
  { startedAt, durationMs, result }: Made,
): Promise<void> {
  const { delivery, claimedMs, isProbe } = claim;
  const { notificationId, destinationId, eventId, seq, leasedUntil, attemptCount } = delivery;
  const { delivered, responseStatus, error } = result;
  const now = clock.now();
  const outcome = outcomeOf(claim, result, now, random());
  const attempted = { notificationId, destinationId, startedAt, durationMs };
  const lease = { seq, leasedUntil };
  const isGone = responseStatus === gone;
  // The next delivery with the order key keeps its attempts if this one died without using up its own.
  const afterDead = !delivered && (delivery.afterDead || !isFinal(responseStatus));
  const results = await storage.atomically(
    healthWrite(destination, result, now, isProbe ? claimedMs : null),
    write(insertAttempt, { ...attempted, delivered, responseStatus, error }),
    write(settleDelivery, { ...lease, ...outcome, earlierAttempts: attemptCount }),
    // If it was rescheduled during the failed attempt, it is due at once.
    ...(delivered ? [] : [write(releaseDelivery, lease)]),
    ...(outcome.dueAt === null ? nextInLine(delivery, new Date(now), { afterDead }) : []),
    ...summaryWrites(eventId),
    ...(isGone ? [disabling(destination, now)] : []),
  );
  const [health] = results;
  metrics.attempted(destination, delivered ? "delivered" : "failed", durationMs / 1_000);
  const name = nameInLogs(destination);
  const fields = { id: notificationId, destination: name, attempt: outcome.attemptCount, error };
  if (!delivered) log.warn(fields, `notification ${outcome.status}`);
  const [changed] = health.rows;
  if (changed !== undefined) onHealth(destination.id, changed);
  if (!isGone) return;
  if (results.at(-1)?.changes === 1) {
    log.warn({ destination: name, reason: goneReason }, "destination disabled");
  }
  // Before the queue looks for more.
  await onDisabled(destination.id);
}

/** Changes nothing if the destination was changed since this attempt began: its address may be another one. */
function disabling({ id, updatedAt: before }: Destination, nowMs: number): Write<never> {
  const updatedAt = new Date(Math.max(nowMs, before.getTime() + 1));
  return write(disableDestination, { id, before, updatedAt });
}

/** Sends in a separate span, in the trace of the request that created the event. */
async function sendTraced(
  { storage, tracer }: AttemptParts,
  { send }: CachedDestination,
  notification: SentNotification,
  event: Event,
  earlierAttempts: number,
  signal: AbortSignal,
): Promise<SendResult> {
  if (tracer === null) return send(notification, event, null, signal);
  const [kept] = await storage.all(headersOf, { id: event.id });
  const origin = storedTrace(kept?.headers ?? null);
  const span = tracer.start("notification delivery", {
    kind: "client",
    parent: origin,
    attributes: {
      "http.request.method": "POST",
      "http.request.resend_count": earlierAttempts,
      "cloudevents.event_id": event.id,
    },
  });
  const result = await send(notification, event, { origin, attempt: span.context }, signal);
  const { delivered, responseStatus: status } = result;
  if (status !== null) span.set({ "http.response.status_code": status });
  // An attempt interrupted by the stop is not an error.
  const error = { type: String(status ?? "no-answer"), isServerError: !signal.aborted };
  span.end(delivered ? undefined : error);
  return result;
}

/** The state of a delivery after an attempt. */
function outcomeOf(
  { delivery, claimedMs, isProbe }: Claim,
  { delivered, error, retryAfterMs, responseStatus }: SendResult,
  nowMs: number,
  random: number,
): Pick<OutgoingDelivery, "status" | "attemptCount" | "dueAt" | "deliveredAt" | "lastError"> {
  const attemptCount = delivery.attemptCount + 1;
  if (delivered) {
    const deliveredAt = new Date(nowMs);
    return { status: "delivered", attemptCount, dueAt: null, deliveredAt, lastError: null };
  }
  const failed = { attemptCount, deliveredAt: null, lastError: error };
  if (isFinal(responseStatus)) return { ...failed, status: "dead", dueAt: null };
  const { dueAt } = delivery;
  // A failed probe before the time of the next attempt does not use up one.
  if (isProbe && dueAt !== null && dueAt.getTime() > claimedMs) {
    return { ...failed, attemptCount: delivery.attemptCount, status: "retrying", dueAt };
  }
  // A probe fails because the destination does, so the delivery keeps all its attempts.
  const isOnly = delivery.afterDead && !isProbe;
  const delayMs = isOnly ? null : nextRetryMs(attemptCount, retryAfterMs, random);
  if (delayMs === null) return { ...failed, status: "dead", dueAt: null };
  return { ...failed, status: "retrying", dueAt: new Date(nowMs + delayMs) };
}
