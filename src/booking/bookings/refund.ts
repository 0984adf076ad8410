import type { Booking } from "../booking.ts";

/** What a cancellation pays back, by how early it comes. */
export interface RefundPolicy {
  /** Within this long after booking all is paid back … */
  readonly freeWithinHours: number;
  /** … when departure is at least this far off. */
  readonly freeBeforeDays: number;
  /** Later: the percentage of the first step whose hours are left before departure; longest first. */
  readonly steps: readonly { readonly moreThanHours: number; readonly percent: number }[];
}

export interface Refund {
  /** Paid back, in minor units, rounded down. */
  readonly minor: number;
  /** 0 to 100. */
  readonly percent: number;
  readonly reason: string;
}

const hourMs = 3_600_000;

/** What cancelling a booking now would pay back. */
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
  { freeWithinHours, freeBeforeDays, steps }: RefundPolicy,
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
  const step = steps.find(({ moreThanHours }) => hoursLeft > moreThanHours);
  if (step === undefined) {
    const least = steps.at(-1)?.moreThanHours ?? 0;
    return { percent: 0, reason: `${least} h or less before departure` };
  }
  return { percent: step.percent, reason: `More than ${step.moreThanHours} h before departure` };
}
