import type { Booking } from "../booking.ts";

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

const hourMs = 3_600_000;

type Sold = Pick<Booking, "totalMinor" | "createdAt">;

/** Calculates the refund for cancelling a booking now. */
export function refundOf(
  policy: RefundPolicy,
  booking: Sold & Charged,
  departureTime: Date,
  now: Date,
): Refund {
  const credit = creditOf(policy, booking, departureTime, now);
  return { ...credit, minor: Math.min(credit.minor, refundable(booking)) };
}

/** The part of the price that a policy gives back now, whatever was refunded before. */
export function creditOf(
  policy: RefundPolicy,
  { totalMinor, createdAt }: Sold,
  departureTime: Date,
  now: Date,
): Refund {
  const { percent, reason } = termsOf(policy, createdAt, departureTime, now);
  return { minor: Math.floor((totalMinor * percent) / 100), percent, reason };
}

export type Charged = Pick<Booking, "chargedMinor" | "refundDueMinor" | "keptMinor">;

/** What can still be refunded of a booking, in minor units. */
export function refundable({ chargedMinor, refundDueMinor, keptMinor }: Charged): number {
  return chargedMinor - refundDueMinor - keptMinor;
}

function termsOf(
  { freeWithinHours, freeBeforeDays, tiers }: RefundPolicy,
  bookedAt: Date,
  departureTime: Date,
  now: Date,
): Omit<Refund, "minor"> {
  const hoursHeld = (now.getTime() - bookedAt.getTime()) / hourMs;
  const hoursLeft = (departureTime.getTime() - now.getTime()) / hourMs;
  if (hoursHeld <= freeWithinHours && hoursLeft >= freeBeforeDays * 24) {
    const reason = `Within ${freeWithinHours} h of booking, ${freeBeforeDays} days or more before departure`;
    return { percent: 100, reason };
  }
  const tier = tiers.find(({ moreThanHours }) => hoursLeft > moreThanHours);
  if (tier === undefined) {
    const least = tiers.at(-1)?.moreThanHours ?? 0;
    return { percent: 0, reason: `${least} h or less before departure` };
  }
  return { percent: tier.percent, reason: `More than ${tier.moreThanHours} h before departure` };
}
