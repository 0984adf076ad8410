import type { Clock } from "../../base/clock.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";

import type { CachedDestination } from "./destination-cache.ts";
import type { Claim } from "./outcome.ts";
import type { MadeAttempt } from "./record.ts";
import type { MessageItem } from "./render.ts";
import { contentTooLargeStatus, sendTraced } from "./send.ts";

export interface AttemptParts {
  readonly clock: Clock;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
}

/** A delivery that was claimed, with what is sent. */
export interface ReadyDelivery extends MessageItem {
  readonly claim: Claim;
}

/** The deliveries of one message. */
export type Batch = readonly [ReadyDelivery, ...ReadyDelivery[]];

/** A larger difference between the clock and the time that passed is a jump of the clock. */
const leastJumpMs = 1_000;

/** Makes an attempt for all deliveries of a message. `onSend`: called when it is sent. Null if the stop interrupted it. */
export async function attempt(
  { clock, tracer }: AttemptParts,
  { send, destination }: CachedDestination,
  batch: Batch,
  onSend: () => void,
  signal: AbortSignal,
): Promise<Omit<MadeAttempt, "claim"> | null> {
  const startedAt = new Date(clock.now());
  const startedMs = performance.now();
  onSend();
  const earlier = batch[0].claim.delivery.attemptCount;
  const sent = await sendTraced(tracer, send, batch, earlier, signal);
  // Smaller batches may be accepted.
  const result =
    batch.length > 1 && sent.responseStatus === contentTooLargeStatus
      ? { ...sent, isFinal: false }
      : sent;
  // Not an error of the destination. The next start sends it again.
  if (signal.aborted && !result.delivered) return null;
  // The clock may have been set back meanwhile, or have jumped forward: the attempt did not take that long.
  const tookMs = Math.ceil(performance.now() - startedMs);
  const elapsedMs = Math.max(0, clock.now() - startedAt.getTime());
  const durationMs = elapsedMs > tookMs + leastJumpMs ? tookMs : elapsedMs;
  return { destination, startedAt, durationMs, result };
}
