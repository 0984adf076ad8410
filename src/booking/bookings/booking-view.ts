import { moneyOf } from "../../base/money.ts";
import { type RefundStatus, refundStatus } from "../booking-state.ts";
import type { Booking, BookingStatus, Passenger, PersonalData } from "../booking.ts";
import { departed, type FlightView } from "../flight.ts";
import { flightView } from "../flights/flight-view.ts";
import { maskedPassport } from "../personal-data/personal-data.ts";

import type { HistoryEntry } from "./booking-history.ts";
import type { BookingOnFlight } from "./bookings.sql.ts";
import type { MoneyView } from "./payment-view.ts";
import type { Refund } from "./refund.ts";

/** The response to POST /v1/api/bookings: the five specified fields and two more, for a hold three. */
export interface BookingCreated {
  readonly bookingId: Booking["id"];
  readonly status: "confirmed" | "held";
  readonly totalPrice: number;
  readonly currency: string;
  readonly confirmationSentTo: string;
  readonly createdAt: Date;
  readonly reference: string;
  /** When the hold ends. Only for a booking that was made as a hold. */
  readonly expiresAt?: Date;
}

/** A booking in a list. */
export interface BookingSummary extends Omit<BookingCreated, "status"> {
  /** Equal to `bookingId`: every list item has an `id`. */
  readonly id: Booking["id"];
  readonly status: BookingStatus;
  readonly userId: string;
  readonly seats: number;
  readonly flight: FlightView;
  readonly updatedAt: Date;
  readonly cancellation: Cancellation | null;
}

/** A booking as it was when it was made. */
export interface BookingMade extends BookingSummary {
  readonly status: BookingCreated["status"];
}

/** A booking with its passengers. */
export interface BookingDetails extends BookingSummary, MoneyView {
  readonly contactEmail: string;
  readonly paymentMethod: Booking["paymentMethod"];
  readonly passengers: readonly PassengerView[];
  /** The booking's history, oldest first. For admins only. */
  readonly history?: readonly HistoryEntry[];
}

export interface PassengerView extends Pick<Passenger, "firstName" | "lastName" | "email"> {
  /** Fully masked. */
  readonly dateOfBirth: string;
  /** Masked except for at most a third of its characters. */
  readonly passportNumber: string;
}

export interface RefundView {
  readonly amount: number;
  readonly currency: string;
  readonly percent: number;
  /** The amount that is not refunded. */
  readonly fee: number;
  readonly method: "original_payment_method";
  /** Of the refund as it is now. */
  readonly status: RefundStatus;
  readonly reason: string;
}

export interface Cancellation {
  readonly bookingId: Booking["id"];
  readonly status: "cancelled";
  readonly cancelledAt: Date;
  readonly refund: RefundView;
}

/** The refund for a cancellation at the time of the quote. */
export interface CancellationQuote {
  readonly bookingId: Booking["id"];
  readonly quotedAt: Date;
  readonly refund: RefundView;
}

/** Renders a booking as it was when it was made, so that a retry gets the original response. */
export function bookingMade(booking: BookingOnFlight): BookingMade {
  const { createdAt } = booking;
  const summary = bookingSummary({ ...booking, updatedAt: createdAt }, createdAt);
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
  const isFlown = booking.status === "confirmed" && departed(booking.flight, now);
  return {
    id: booking.id,
    bookingId: booking.id,
    totalPrice: moneyOf(booking.totalMinor, booking.currency).amount,
    currency: booking.currency,
    confirmationSentTo: booking.contactEmail,
    createdAt: booking.createdAt,
    reference: booking.reference,
    ...(booking.expiresAt !== null && { expiresAt: booking.expiresAt }),
    status: isFlown ? "flown" : booking.status,
    userId: booking.userId,
    seats: booking.seats,
    flight: flightView(booking.flight),
    updatedAt: booking.updatedAt,
    cancellation: booking.status === "cancelled" ? cancellationOf(booking) : null,
  };
}

export function bookingDetails(
  booking: BookingOnFlight,
  passengers: readonly (Passenger & PersonalData)[],
  money: MoneyView,
  now: Date,
): BookingDetails {
  return {
    ...bookingSummary(booking, now),
    contactEmail: booking.contactEmail,
    paymentMethod: booking.paymentMethod,
    passengers: passengers.map(passengerView),
    ...money,
  };
}

export function passengerView({
  firstName,
  lastName,
  email,
  passportNumber,
}: Passenger & PersonalData): PassengerView {
  return {
    firstName,
    lastName,
    email,
    dateOfBirth: "****-**-**",
    passportNumber: maskedPassport(passportNumber),
  };
}

/** Throws when the booking is not cancelled. */
export function cancellationOf(booking: Booking): Cancellation {
  const { id, cancelledAt, refundMinor, refundPercent, refundReason } = booking;
  if (cancelledAt === null || refundMinor === null || refundPercent === null) {
    throw new Error(`Booking ${id} is not cancelled`);
  }
  const refund = { minor: refundMinor, percent: refundPercent, reason: refundReason ?? "" };
  return { bookingId: id, status: "cancelled", cancelledAt, refund: refundView(booking, refund) };
}

export function cancellationQuote(
  booking: Booking,
  refund: Refund,
  quotedAt: Date,
): CancellationQuote {
  return { bookingId: booking.id, quotedAt, refund: refundView(booking, refund) };
}

/** The quote for a booking that is already cancelled: its actual refund. */
export function quoteOfCancelled(booking: Booking): CancellationQuote {
  const { bookingId, cancelledAt, refund } = cancellationOf(booking);
  return { bookingId, quotedAt: cancelledAt, refund };
}

function refundView(booking: Booking, { minor, percent, reason }: Refund): RefundView {
  const { totalMinor, currency, confirmedAt } = booking;
  const dueMinor = confirmedAt === null ? 0 : totalMinor;
  return {
    ...moneyOf(minor, currency),
    percent,
    fee: moneyOf(dueMinor - minor, currency).amount,
    method: "original_payment_method",
    status: refundStatus({ ...booking, status: "cancelled", refundMinor: minor }),
    reason,
  };
}
