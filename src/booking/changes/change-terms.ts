import type { BookingChange } from "../model/booking-change.ts";
import type { Booking } from "../model/booking.ts";
import { type Charged, type Refund, refundableMinor } from "../payments/refund.ts";

/** What a change costs. The amounts are in minor units of the booking's currency. */
export type ChangeTerms = Pick<
  BookingChange,
  | "previousTotalMinor"
  | "newTotalMinor"
  | "penaltyMinor"
  | "changeTotalMinor"
  | "keptMinor"
  | "percent"
  | "reason"
>;

/** The price of some of a booking's seats. Those of all its parts add up to the price of the booking. */
export function partMinor({ totalMinor, seats }: Priced, part: number): number {
  return totalMinor - Math.floor((totalMinor * (seats - part)) / seats);
}

type Priced = Pick<Booking, "totalMinor" | "seats">;

/** `refund`: that of cancelling the part alone. */
export function cancellationTerms(
  booking: Priced & Charged & Pick<Booking, "status">,
  part: number,
  { minor, percent, reason }: Refund,
): ChangeTerms {
  const price = partMinor(booking, part);
  // Nothing was paid of a hold: only the price falls.
  const isUnpaid = booking.status === "held";
  return {
    previousTotalMinor: booking.totalMinor,
    newTotalMinor: booking.totalMinor - price,
    penaltyMinor: isUnpaid ? 0 : price - minor,
    changeTotalMinor: isUnpaid || minor === 0 ? 0 : -minor,
    // The refund for a flight that the airline changed may include what was non-refundable.
    keptMinor: Math.min(0, refundableMinor(booking) - minor),
    percent,
    reason,
  };
}

/**
 * `credit`: what counts of the previous price. `refundMinor`: what cancelling the booking would refund. No more than that
 * is refunded by a change or after it, so that nobody gains by a change to a cheap or a late flight.
 */
export function flightTerms(
  booking: Priced & Charged,
  newTotalMinor: number,
  { minor: creditMinor, percent, reason }: Refund,
  refundMinor: number,
): ChangeTerms {
  const { totalMinor } = booking;
  const changeTotalMinor = Math.max(newTotalMinor - creditMinor, -refundMinor);
  return {
    previousTotalMinor: totalMinor,
    newTotalMinor,
    penaltyMinor: changeTotalMinor - newTotalMinor + totalMinor,
    // A refund of nothing is 0, not -0.
    changeTotalMinor: changeTotalMinor === 0 ? 0 : changeTotalMinor,
    keptMinor: refundableMinor(booking) - refundMinor,
    percent,
    reason,
  };
}
