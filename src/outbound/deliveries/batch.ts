import type { Claim } from "./outcome.ts";
import type { Sent } from "./render.ts";

/** A delivery that was claimed, with what is sent. */
export interface Ready extends Sent {
  readonly claim: Claim;
}

/** The deliveries of one message. */
export type Batch = readonly [Ready, ...Ready[]];

export interface NextBatch {
  readonly batch: Batch;
  /** In how many milliseconds it is sent. */
  readonly dueMs: number;
  /** What is ready besides. */
  readonly rest: Ready[];
}

/**
 * Returns which deliveries are sent next, of those that are ready, the oldest first; null if none is. A batch that is not full waits
 * for `longestMs`; meanwhile, what goes alone is sent.
 */
export function nextBatch(
  ready: readonly Ready[],
  size: number,
  longestMs: number,
  nowMs: number,
): NextBatch | null {
  const [first, ...more] = ready;
  if (first === undefined) return null;
  const others = more.filter((each) => !goesAlone(each)).slice(0, size - 1);
  const waitMs = others.length === size - 1 ? 0 : first.claim.claimedMs + longestMs - nowMs;
  const isAlone = size === 1 || goesAlone(first);
  const alone = isAlone ? first : waitMs > 0 ? ready.find(goesAlone) : undefined;
  const batch: Batch = alone === undefined ? [first, ...others] : [alone];
  const taken = new Set(batch);
  const rest = ready.filter((each) => !taken.has(each));
  return { batch, dueMs: alone === undefined ? waitMs : 0, rest };
}

/**
 * It may be why an attempt failed, or has only one attempt, which others must not fail. After an outage these are few, because the
 * circuit opens after ten failed attempts.
 */
function goesAlone({ claim: { delivery } }: Ready): boolean {
  return delivery.attemptCount > 0 || delivery.afterDead;
}
