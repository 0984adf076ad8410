import { moneyOf } from "../../base/money.ts";
import { shown } from "../../web/schema.ts";
import { flightView } from "../flights/flight-view.ts";
import { isFlightChanged, paymentState, refundStatus } from "../model/booking-state.ts";
import {
  type Booking,
  bookingDetailFields,
  bookingFields,
  type Passenger,
  passengerFields,
  type PersonalData,
} from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import { type FlightChange, hasDeparted } from "../model/flight.ts";
import { type MoneyView, refundSums } from "../payments/payment-view.ts";
import type { Refund } from "../payments/refund.ts";
import { maskedPassport } from "../personal-data/personal-data.ts";

import type {
  BookingCreated,
  BookingDetails,
  BookingSummary,
  Cancellation,
  CancellationQuote,
  PassengerView,
  RefundView,
} from "./booking.schema.ts";

/** A booking as it was when it was made. */
export interface BookingMade extends BookingSummary {
  readonly status: BookingCreated["status"];
}

/** Renders a booking as it was when it was made, so that a retry gets the original response. */
export function bookingMade(booking: BookingOnFlight): BookingMade {
  const { createdAt, flight } = booking;
  const first = { ...booking, updatedAt: createdAt, flightRevision: flight.revision };
  const summary = bookingSummary(first, createdAt);
  const status = booking.expiresAt === null ? "confirmed" : "held";
  return { ...summary, status, cancellation: null };
}

export function bookingCreated(made: BookingMade): BookingCreated {
  const { bookingId, status, totalPrice, currency, confirmationSentTo } = made;
  const { createdAt, reference, expiresAt } = made;
  return {
    bookingId,
    status,
    totalPrice,
    currency,
    confirmationSentTo,
    createdAt,
    reference,
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

export function bookingSummary(booking: BookingOnFlight, now: Date): BookingSummary {
  const isFlown = booking.status === "confirmed" && hasDeparted(booking.flight, now);
  return {
    ...shown(bookingFields, booking),
    bookingId: booking.id,
    totalPrice: moneyOf(booking.totalMinor, booking.currency).amount,
    confirmationSentTo: booking.contactEmail,
    ...(booking.expiresAt !== null && { expiresAt: booking.expiresAt }),
    status: isFlown ? "flown" : booking.status,
    flight: flightView(booking.flight),
    ...flightChangeOf(booking),
    cancellation: booking.status === "cancelled" ? cancellationOf(booking) : null,
  };
}

/** What only admins see of a booking's payment. */
export function paymentForAdmins(
  booking: BookingOnFlight,
): Pick<BookingSummary, "payment" | "refund"> {
  const refund = refundSums(booking);
  return { payment: paymentState(booking), ...(refund.status !== "none" && { refund }) };
}

function flightChangeOf(booking: BookingOnFlight): { readonly flightChange?: FlightChange } {
  const { lastChange } = booking.flight;
  if (lastChange === null || !isFlightChanged(booking)) return {};
  const flightChange = {
    ...lastChange,
    changedAt: new Date(lastChange.changedAt),
    previousDepartureTime: new Date(lastChange.previousDepartureTime),
    previousArrivalTime: new Date(lastChange.previousArrivalTime),
  };
  return { flightChange };
}

export function bookingDetails(
  booking: BookingOnFlight,
  passengers: readonly (Passenger & PersonalData)[],
  money: MoneyView,
  now: Date,
): BookingDetails {
  return {
    ...bookingSummary(booking, now),
    ...shown(bookingDetailFields, booking),
    passengers: passengers.map(passengerView),
    ...money,
  };
}

export function passengerView(passenger: Passenger & PersonalData): PassengerView {
  const { passportNumber, cancelledAt } = passenger;
  return {
    ...shown(passengerFields, passenger),
    dateOfBirth: "****-**-**",
    passportNumber: maskedPassport(passportNumber),
    ...(cancelledAt !== null && { cancelledAt }),
  };
}

/** Throws when the booking is not cancelled. */
export function cancellationOf(booking: Booking): Cancellation {
  const { id, cancelledAt, refundMinor, refundPercent, refundReason } = booking;
  if (cancelledAt === null || refundMinor === null || refundPercent === null) {
    throw new Error(`Booking ${id} is not cancelled`);
  }
  const refund = { minor: refundMinor, percent: refundPercent, reason: refundReason ?? "" };
  const view = refundView(booking, refund, booking.refundDueMinor);
  return { bookingId: id, status: "cancelled", cancelledAt, refund: view };
}

export function cancellationQuote(
  booking: Booking,
  refund: Refund,
  quotedAt: Date,
): CancellationQuote {
  const dueMinor = booking.refundDueMinor + refund.minor;
  return { bookingId: booking.id, quotedAt, refund: refundView(booking, refund, dueMinor) };
}

/** The quote for a booking that is already cancelled: its actual refund. */
export function quoteOfCancelled(booking: Booking): CancellationQuote {
  const { bookingId, cancelledAt, refund } = cancellationOf(booking);
  return { bookingId, quotedAt: cancelledAt, refund };
}

/** `refundDueMinor`: what is due in all then. */
function refundView(
  { totalMinor, currency, confirmedAt, refundedMinor }: Booking,
  { minor, percent, reason }: Refund,
  refundDueMinor: number,
): RefundView {
  const chargedMinor = confirmedAt === null ? 0 : totalMinor;
  return {
    ...moneyOf(minor, currency),
    percent,
    fee: moneyOf(chargedMinor - minor, currency).amount,
    method: "original_payment_method",
    status: refundStatus({ refundDueMinor, refundedMinor }),
    reason,
  };
}
