import { type Clock, systemClock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { destinationsDue } from "../../outbound/deliveries/delivery-queue.sql.ts";
import type { Services } from "../../services.ts";

/** A clock that can be set back, to make data of the past. When it is set forward, timers whose time has passed fire. */
export interface PastClock extends Clock {
  /** 0: the present. */
  setBack(ms: number): void;
}

export function pastClock(): PastClock {
  let behindMs = 0;
  const now = () => systemClock.now() - behindMs;
  /** When they are due, by what fires them. */
  const timers = new Map<() => void, number>();
  return {
    now,
    after(delayMs, action) {
      const fire = () => {
        cancel();
        action();
      };
      const cancelReal = systemClock.after(delayMs, fire);
      const cancel = () => {
        timers.delete(fire);
        cancelReal();
      };
      timers.set(fire, now() + delayMs);
      return cancel;
    },
    setBack(ms) {
      behindMs = ms;
      for (const [fire, dueMs] of Array.from(timers)) {
        if (dueMs <= now() && timers.has(fire)) fire();
      }
    },
  };
}

export const minuteMs = 60_000;
/** How far back the demo's past goes. */
export const historyMs = 3 * 1_440 * minuteMs;

/** Minutes before now or, of yesterday, a time on this machine's clock. */
export type Time = number | string;

/** Something that happened in the past of the demo. */
export interface Moment {
  readonly agoMs: number;
  readonly happen: () => Promise<unknown>;
}

/**
 * Lets everything happen in its order, oldest first, with the clock set to its time. The clock stops until all due
 * notifications are sent: if it passed the end of their leases, they would be sent again.
 */
export async function liveThrough(
  moments: readonly Moment[],
  clock: PastClock,
  { storage }: Pick<Services, "storage">,
): Promise<void> {
  const isSending = async () =>
    (await storage.all(destinationsDue, { until: new Date(clock.now()) })).length > 0;
  for (const { agoMs, happen } of moments.toSorted((one, other) => other.agoMs - one.agoMs)) {
    clock.setBack(agoMs);
    await happen();
    while (await isSending()) await Bun.sleep(2);
  }
  clock.setBack(0);
}

export function moment(time: Time, happen: Moment["happen"]): Moment {
  return { agoMs: systemClock.now() - timeOf(time), happen };
}

export function timeOf(time: Time): number {
  if (typeof time === "number") return systemClock.now() - Math.round(time * minuteMs);
  const timeZone = Temporal.Now.timeZoneId();
  const yesterday = Temporal.Now.plainDateISO(timeZone).subtract({ days: 1 });
  return yesterday.toZonedDateTime({ timeZone, plainTime: time }).epochMilliseconds;
}

/** Who does what the demo does. */
export function contextOf(id: string, role: "user" | "operator" | "admin"): Context {
  return { actor: { id, roles: [role] }, expiresAt: new Date(8.64e15), requestId: "demo" };
}
