import type { Batch, ReadyDelivery } from "./attempt.ts";
import type { CachedDestination } from "./destination-cache.ts";

/** How long a batch waits to be full unless the destination says otherwise. */
const usualBatchWaitMs = 1_000;

/** What was claimed of one destination and waits to be sent, in messages of one delivery or of several. */
export interface SendBuffer {
  add(deliveries: readonly ReadyDelivery[]): void;
  count(): number;
  /** How many deliveries make up one message. One while it is uncertain whether the destination answers. */
  messageSize(to: CachedDestination): number;
  /** Milliseconds until the next message is sent even if it is not full; null without one. */
  waitMs(to: CachedDestination, nowMs: number): number | null;
  /** Takes the next message, if there is one and it need not wait. */
  next(to: CachedDestination, nowMs: number): Batch | null;
  /** Takes all. */
  takeAll(): readonly ReadyDelivery[];
  /** Whether all can be sent before their leases end, of which so much must be left, and no more can be. */
  hasTime(nowMs: number, leastMs: number, mostMs: number): boolean;
  /** A message of so many deliveries was too large for the destination. */
  wasTooLarge(deliveries: number): void;
}

export function sendBuffer(): SendBuffer {
  let ready: ReadyDelivery[] = [];
  let largest = Number.POSITIVE_INFINITY;

  function messageSize({ destination: { batchMaxItems, failures } }: CachedDestination): number {
    const isAlone = failures > 0 || ready.slice(0, 1).some(goesAlone);
    return isAlone ? 1 : Math.max(1, Math.min(batchMaxItems ?? 1, largest));
  }

  function waitMs(to: CachedDestination, nowMs: number): number | null {
    const [first] = ready;
    if (first === undefined) return null;
    if (ready.length >= messageSize(to)) return 0;
    const longestMs = to.destination.batchMaxWaitMs ?? usualBatchWaitMs;
    return first.claim.claimedMs + longestMs - nowMs;
  }

  return {
    add(deliveries) {
      ready.push(...deliveries);
      ready.sort((one, other) => Number(goesAlone(other)) - Number(goesAlone(one)));
    },
    count: () => ready.length,
    messageSize,
    waitMs,
    next(to, nowMs) {
      if ((waitMs(to, nowMs) ?? 1) > 0) return null;
      const [first, ...others] = ready.splice(0, messageSize(to));
      return first === undefined ? null : [first, ...others];
    },
    takeAll: () => ready.splice(0),
    hasTime: (nowMs, leastMs, mostMs) =>
      ready.every(({ claim: { delivery } }) => {
        const leftMs = (delivery.leasedUntil?.getTime() ?? 0) - nowMs;
        return leftMs >= leastMs && leftMs <= mostMs;
      }),
    wasTooLarge(deliveries) {
      largest = Math.floor(deliveries / 2);
    },
  };
}

/**
 * It may be why an attempt failed, or it has one attempt only, which no other may fail. After an outage few have
 * attempts, because the circuit opens after ten failures.
 */
function goesAlone({ claim: { delivery } }: ReadyDelivery): boolean {
  return delivery.attemptCount > 0 || delivery.afterDead;
}
