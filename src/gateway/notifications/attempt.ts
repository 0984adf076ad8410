import type { Clock } from "../../base/clock.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import { storedTrace } from "../../telemetry/tracing/stored-trace.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";
import type { Destination } from "../destination.ts";
import { recordFailure, recordRecovery, recordSuccess } from "../destinations/destinations.sql.ts";
import type { Sendable } from "../destinations/formats/format.ts";
import type { SendResult } from "../destinations/send.ts";
import type { Target } from "../destinations/targets.ts";
import { eventById, headersOf } from "../event.sql.ts";
import type { Event } from "../event.ts";
import { type Attempt, nextRetryMs } from "../notification.ts";
import type { OutgoingDelivery } from "../outgoing-delivery.ts";

import { retryNow } from "./deliveries.sql.ts";
import {
  type ClaimedDelivery,
  notificationById,
  releaseDelivery,
  settleDelivery,
} from "./delivery-queue.sql.ts";
import type { NotificationMetrics } from "./notification-metrics.ts";
import { insertAttempt, summaryWrites } from "./notifications.sql.ts";

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
}

/** A larger difference between the clock and the time that passed is a jump of the clock. */
const leastJumpMs = 1_000;

/** This many failures in a row open the circuit: deliveries then fail without a request, but for probes. */
const circuitThreshold = 10;
/** The time between two probes. */
const probeMs = 30_000;

type Health = Pick<Destination, "failures" | "openUntil">;

/** The error of an attempt that was not made. */
export const notSent = "not sent: the circuit is open after many failures";
const circuitIsOpen: SendResult = {
  delivered: false,
  responseStatus: null,
  error: notSent,
  retryAfterMs: null,
};

export function isCircuitOpen({ openUntil }: Health, nowMs: number): boolean {
  return openUntil !== null && openUntil.getTime() > nowMs;
}

/** Whether the next attempt decides if the circuit closes. */
export function isHalfOpen({ openUntil }: Health, nowMs: number): boolean {
  return openUntil !== null && openUntil.getTime() <= nowMs;
}

/** Sends a delivery that was claimed at `claimedMs`, and records the outcome. Never throws. */
export async function attempt(
  parts: AttemptParts,
  target: Target,
  delivery: ClaimedDelivery,
  claimedMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { storage, clock, log } = parts;
  const { notificationId, eventId, attemptCount } = delivery;
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
    // As when it was claimed: of many claimed while the circuit was open, none is a probe.
    const result = isCircuitOpen(target.destination, claimedMs)
      ? circuitIsOpen
      : await sendTraced(parts, target, notification, event, attemptCount, signal);
    // Interrupted by the stop, which is not an error of the destination. The next start sends it again.
    if (signal.aborted && !result.delivered) return;
    // The clock may have been set back meanwhile, or have jumped forward: the attempt did not take that long.
    const tookMs = Math.ceil(performance.now() - startedMs);
    const elapsedMs = Math.max(0, clock.now() - startedAt.getTime());
    const durationMs = elapsedMs > tookMs + leastJumpMs ? tookMs : elapsedMs;
    await record(parts, target, delivery, { startedAt, durationMs, result });
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
  parts: AttemptParts,
  target: Target,
  { notificationId, destinationId, eventId, seq, leasedUntil, attemptCount }: ClaimedDelivery,
  { startedAt, durationMs, result }: Made,
): Promise<void> {
  const { storage, clock, log, metrics, random } = parts;
  const { delivered, responseStatus, error } = result;
  const outcome = outcomeOf(attemptCount, result, clock.now(), random());
  const attempted = { notificationId, destinationId, startedAt, durationMs };
  const lease = { seq, leasedUntil };
  const [health] = await storage.atomically(
    ...healthWrites(target, result, clock.now()),
    write(insertAttempt, { ...attempted, delivered, responseStatus, error }),
    write(settleDelivery, { ...lease, ...outcome, earlierAttempts: attemptCount }),
    // If it was rescheduled during the failed attempt, it is due at once.
    ...(delivered ? [] : [write(releaseDelivery, lease)]),
    ...summaryWrites(eventId),
  );
  metrics.attempted(
    target.destination,
    delivered ? "delivered" : "failed",
    result === circuitIsOpen ? null : durationMs / 1_000,
  );
  const { name: destination } = target.destination;
  const fields = { id: notificationId, destination, attempt: outcome.attemptCount, error };
  if (!delivered) log.warn(fields, `notification ${outcome.status}`);
  if (result !== circuitIsOpen) await followHealth(parts, target, health?.rows[0]);
}

function healthWrites(
  { destination: { id, failures } }: Target,
  result: SendResult,
  nowMs: number,
): readonly Write<Health>[] {
  if (result === circuitIsOpen) return [];
  if (result.delivered) return [write(failures > 0 ? recordRecovery : recordSuccess, { id })];
  const openUntil = new Date(nowMs + probeMs);
  return [write(recordFailure, { id, openUntil, threshold: circuitThreshold })];
}

/** Logs when the circuit opens or closes. A destination that has recovered gets its retries at once. */
async function followHealth(
  { storage, clock, log, onHealth }: AttemptParts,
  { destination }: Target,
  health: Health | undefined,
): Promise<void> {
  if (health === undefined) return;
  const wasOpen = destination.openUntil !== null;
  const isOpen = health.openUntil !== null;
  const fields = { destination: destination.name };
  if (isOpen && !wasOpen) log.warn(fields, "circuit opened: too many failures in a row");
  if (wasOpen && !isOpen) {
    log.info(fields, "circuit closed");
    const now = new Date(clock.now());
    await storage.atomically(write(retryNow, { destinationId: destination.id, now }));
  }
  onHealth(destination.id, health);
}

/** Sends in a separate span, in the trace of the request that created the event. */
async function sendTraced(
  { storage, tracer }: AttemptParts,
  { send }: Target,
  notification: Sendable,
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
  earlierAttempts: number,
  { delivered, error, retryAfterMs }: SendResult,
  nowMs: number,
  random: number,
): Pick<OutgoingDelivery, "status" | "attemptCount" | "dueAt" | "deliveredAt" | "lastError"> {
  const attemptCount = earlierAttempts + 1;
  if (delivered) {
    const deliveredAt = new Date(nowMs);
    return { status: "delivered", attemptCount, dueAt: null, deliveredAt, lastError: null };
  }
  const delayMs = nextRetryMs(attemptCount, retryAfterMs, random);
  const failed = { attemptCount, deliveredAt: null, lastError: error };
  if (delayMs === null) return { ...failed, status: "dead", dueAt: null };
  return { ...failed, status: "retrying", dueAt: new Date(nowMs + delayMs) };
}
