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

/** Calculates the refund for cancelling a booking now. */
export function refundOf(
  policy: RefundPolicy,
  booking: Pick<Booking, "totalMinor" | "createdAt">,
  departureTime: Date,
  now: Date,
): Refund {
  const { percent, reason } = termsOf(policy, booking.createdAt, departureTime, now);
  return { minor: Math.floor((booking.totalMinor * percent) / 100), percent, reason };
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
