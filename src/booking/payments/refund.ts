import type { Booking } from "../model/booking.ts";

/** The refund of a cancellation, by the time left before departure. */
export interface RefundPolicy {
  /** Full refund within this many hours of booking … */
  readonly freeWithinHours: number;
  /** … if departure is at least this many days away. */
  readonly freeBeforeDays: number;
  /** Otherwise, the first tier that matches the hours left before departure. Longest first. */
  readonly tiers: readonly { readonly moreThanHours: number; readonly percent: number }[];
}

export interface Refund {
  /** In minor units, rounded down. */
  readonly minor: number;
  /** 0 to 100. */
  readonly percent: number;
  readonly reason: string;
}

/** The refund that a rule gives now. */
export interface RefundNow extends Refund {
  /** When the rule ends; null if only the departure or the airline ends it. */
  readonly until: Date | null;
}

const hourMs = 3_600_000;

type Sold = Pick<Booking, "totalMinor" | "createdAt">;

/** Calculates the refund for cancelling a booking now. */
export function refundOf(
  policy: RefundPolicy,
  booking: Sold & Charged,
  departureTime: Date,
  now: Date,
): RefundNow {
  const credit = creditOf(policy, booking, departureTime, now);
  return { ...credit, minor: Math.min(credit.minor, refundableMinor(booking)) };
}

/** The part of the price that a policy gives back now, whatever was refunded before. */
export function creditOf(
  policy: RefundPolicy,
  { totalMinor, createdAt }: Sold,
  departureTime: Date,
  now: Date,
): RefundNow {
  const terms = termsOf(policy, createdAt, departureTime, now);
  return { ...terms, minor: Math.floor((totalMinor * terms.percent) / 100) };
}

export type Charged = Pick<Booking, "chargedMinor" | "refundDueMinor" | "keptMinor">;

/** What can still be refunded of a booking, in minor units. */
export function refundableMinor({ chargedMinor, refundDueMinor, keptMinor }: Charged): number {
  return chargedMinor - refundDueMinor - keptMinor;
}

function termsOf(
  { freeWithinHours, freeBeforeDays, tiers }: RefundPolicy,
  bookedAt: Date,
  departureTime: Date,
  now: Date,
): Omit<RefundNow, "minor"> {
  const hoursHeld = (now.getTime() - bookedAt.getTime()) / hourMs;
  const hoursLeft = (departureTime.getTime() - now.getTime()) / hourMs;
  const freeUntilMs = departureTime.getTime() - freeBeforeDays * 24 * hourMs;
  if (hoursHeld <= freeWithinHours && now.getTime() <= freeUntilMs) {
    const reason = `Within ${freeWithinHours} h of booking, ${freeBeforeDays} days or more before departure`;
    const endsMs = [bookedAt.getTime() + freeWithinHours * hourMs, freeUntilMs];
    return { percent: 100, reason, until: new Date(Math.min(...endsMs)) };
  }
  const tier = tiers.find(({ moreThanHours }) => hoursLeft > moreThanHours);
  if (tier === undefined) {
    const least = tiers.at(-1)?.moreThanHours ?? 0;
    return { percent: 0, reason: `${least} h or less before departure`, until: null };
  }
  const { percent, moreThanHours } = tier;
  const until = new Date(departureTime.getTime() - moreThanHours * hourMs);
  return { percent, reason: `More than ${moreThanHours} h before departure`, until };
}
