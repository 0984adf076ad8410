import type { PaymentState } from "./booking-words.ts";
import type { Booking } from "./booking.ts";
import type { Flight } from "./flight.ts";

/** A stored status. `flown` is derived: a confirmed booking whose flight has departed. */
export type StoredStatus = Booking["status"];

/** One change of a booking's status. docs/bookings.md draws them. */
export interface Transition {
  /** The statuses it starts from; null for a new booking. */
  readonly from: StoredStatus | null;
  readonly to: StoredStatus;
  /** Who may cause it. `owner`: the user who booked, and admins. */
  readonly by: "owner" | "payment" | "time";
  /** The event that operators receive. */
  readonly event: `booking.${"held" | "confirmed" | "expired" | "cancelled" | "changed" | "refunded"}`;
  /** What happens to the flight's seats. `exchanged`: those of the new flight were held, the old ones are released. */
  readonly seats: "taken" | "kept" | "released" | "exchanged" | "none";
  /** What happens to money: nothing, a payment is recorded, a refund becomes due, or is paid out. */
  readonly money: "none" | "paid" | "due" | "refunded";
}

/**
 * The life of a booking. Every change is one statement that also requires the old status, so that of two
 * concurrent changes only one happens.
 */
export const transitions = {
  book: transition(null, "confirmed", "owner", "taken", "none"),
  hold: transition(null, "held", "owner", "taken", "none"),
  pay: transition("held", "confirmed", "payment", "kept", "paid"),
  expire: transition("held", "expired", "time", "released", "none"),
  release: transition("held", "cancelled", "owner", "released", "none"),
  /** A payment that arrives after the hold expired, while seats are left. */
  reseat: transition("expired", "confirmed", "payment", "taken", "paid"),
  cancel: transition("confirmed", "cancelled", "owner", "released", "due"),
  /** Some passengers leave. When the last ones do, the booking is cancelled. */
  part: {
    ...transition("confirmed", "confirmed", "owner", "released", "due"),
    event: "booking.changed",
  },
  partOfHold: {
    ...transition("held", "held", "owner", "released", "none"),
    event: "booking.changed",
  },
  /** To another flight that costs no more: the difference, less the penalty, is due. */
  change: {
    ...transition("confirmed", "confirmed", "owner", "exchanged", "due"),
    event: "booking.changed",
  },
  /** To a flight that costs more: a payment makes the change. */
  changeByPayment: {
    ...transition("confirmed", "confirmed", "payment", "exchanged", "paid"),
    event: "booking.changed",
  },
  /** The provider paid money back, or an admin says so. A provider may also do so before the booking is cancelled. */
  refund: {
    ...transition("cancelled", "cancelled", "payment", "none", "refunded"),
    event: "booking.refunded",
  },
} as const satisfies Record<string, Transition>;
export type TransitionName = keyof typeof transitions;

function transition<
  const From extends StoredStatus | null,
  const To extends StoredStatus,
  const By extends Transition["by"],
  const Seats extends Transition["seats"],
  const Money extends Transition["money"],
>(from: From, to: To, by: By, seats: Seats, money: Money) {
  const event = `booking.${to}` as const;
  return { from, to, by, event, seats, money };
}

/** The progress of a refund. `none`: nothing is due and nothing was refunded. */
export const refundStatuses = ["pending", "partial", "succeeded", "none"] as const;
export type RefundStatus = (typeof refundStatuses)[number];

export function refundStatus({
  refundDueMinor,
  refundedMinor,
}: Pick<Booking, "refundDueMinor" | "refundedMinor">): RefundStatus {
  if (refundDueMinor === 0 && refundedMinor === 0) return "none";
  if (refundedMinor >= refundDueMinor) return "succeeded";
  return refundedMinor === 0 ? "pending" : "partial";
}

/** How the payment stands. The filter `payment` has the same conditions in SQL. */
export function paymentState(
  booking: Pick<Booking, "status" | "expiresAt" | "paidMinor" | "refundDueMinor" | "refundedMinor">,
): PaymentState {
  const { status, expiresAt, paidMinor, refundDueMinor, refundedMinor } = booking;
  if (refundDueMinor > refundedMinor) return "refund-due";
  if (status === "cancelled" && refundedMinor > 0) return "refunded";
  if (paidMinor !== null) return "paid";
  return expiresAt === null ? "at-booking" : "unpaid";
}

/** Whether the airline moved or cancelled the flight after it was booked. */
export function isFlightChanged({
  flight,
  flightRevision,
}: Pick<Booking, "flightRevision"> & { readonly flight: Pick<Flight, "revision"> }): boolean {
  return flight.revision !== flightRevision;
}
