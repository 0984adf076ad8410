import { AppError } from "../../base/errors.ts";
import type { Write } from "../../db/statement.ts";
import type { Event } from "../../event/event.ts";
import type { PaymentNotice } from "../model/payment-notice.ts";

/** What an event changes outside the gateway, committed in the event's own transaction. */
export interface Effect {
  /** What it changes, or why nothing. Part of the event's timeline. */
  readonly explanation: string;
  /** The same for the log: ids and codes, since a text of the payload may hold personal data. */
  readonly logged: Readonly<Record<string, string | number>>;
  /** `cause`: the event. Those that depend on what was read are guarded with `changedMeanwhile`. */
  writes(cause: Pick<Event, "id">): readonly Write<unknown>[];
  /** Called after the commit. */
  committed(): void;
}

/**
 * Decides what an event about a payment changes: the port that bookings implement. Reads only; null if the
 * event is about nothing that is known.
 */
export type EffectOf = (payment: PaymentNotice) => Promise<Effect | null>;

/** What was read has changed before the commit. The transaction is rolled back, and the effect decided again. */
export const changedMeanwhile = new AppError("unavailable", "Try again", { retryAfterSeconds: 1 });

/** Effects that other instances, expiry or callers change before their commit are decided again, up to this many times. */
export const maxAttempts = 20;

/**
 * Decides an effect and commits it. `commit` returns false if another process was first, and throws
 * `changedMeanwhile`. Returns null if nothing was committed.
 */
export async function decidedEffect(
  decide: () => Promise<Effect | null>,
  commit: (effect: Effect | null) => Promise<boolean>,
): Promise<{ readonly effect: Effect | null } | null> {
  return retryIfChanged(async () => {
    const effect = await decide();
    return (await commit(effect)) ? { effect } : null;
  });
}

/** Repeats what others came before: `attempt` throws `changedMeanwhile`. */
export async function retryIfChanged<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (error !== changedMeanwhile || count === maxAttempts) throw error;
    }
  }
}
