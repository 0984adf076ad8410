import type { OutgoingDelivery } from "../model/delivery.ts";
import type { Notification } from "../model/notification.ts";
import { delaysIn, nextRetryMs } from "../model/retry-delays.ts";

import type { ClaimedDelivery } from "./delivery-queue.sql.ts";
import type { SendResult } from "./send.ts";

/** A delivery that was claimed, to be attempted once. */
export interface Claim {
  readonly delivery: ClaimedDelivery;
  readonly notificationId: Notification["id"];
  readonly claimedMs: number;
  /** It was claimed to find out whether the destination answers again. */
  readonly isProbe: boolean;
}

/** The state of a delivery after an attempt: delivered, to be retried, or dead. `retryDelays`: those of its destination. */
export function outcomeOf(
  { delivery, claimedMs, isProbe }: Claim,
  { delivered, error, retryAfterMs, isFinal }: SendResult,
  retryDelays: string | null,
  nowMs: number,
  random: number,
): Pick<OutgoingDelivery, "status" | "attemptCount" | "dueAt" | "deliveredAt" | "lastError"> {
  const attemptCount = delivery.attemptCount + 1;
  if (delivered) {
    const deliveredAt = new Date(nowMs);
    return { status: "delivered", attemptCount, dueAt: null, deliveredAt, lastError: null };
  }
  const failed = { attemptCount, deliveredAt: null, lastError: error };
  if (isFinal) return { ...failed, status: "dead", dueAt: null };
  const { dueAt } = delivery;
  // A failed probe before the time of the next attempt does not use up one.
  if (isProbe && dueAt !== null && dueAt.getTime() > claimedMs) {
    return { ...failed, attemptCount: delivery.attemptCount, status: "retrying", dueAt };
  }
  // A probe fails because the destination does, so the delivery keeps all its attempts.
  const isOnly = delivery.afterDead && !isProbe;
  const delayMs = isOnly
    ? null
    : nextRetryMs(delaysIn(retryDelays), attemptCount, retryAfterMs, random);
  if (delayMs === null) return { ...failed, status: "dead", dueAt: null };
  return { ...failed, status: "retrying", dueAt: new Date(nowMs + delayMs) };
}
