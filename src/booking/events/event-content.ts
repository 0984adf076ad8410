import { moneyOf, moneyText } from "../../base/money.ts";
import type { DataFields } from "../../event/data-fields.ts";
import type { StoredEvent } from "../../event/event.ts";
import type { Severity } from "../../event/new-notification.ts";
import type { PaymentNotice } from "../../inbound/model/payment-notice.ts";
import type { dataOf } from "../../inbound/providers/event-fields.ts";
import { amount, count, currencySchema, signedAmount, text, word } from "../../web/schema.ts";
import type { BookingChange } from "../model/booking-change.ts";
import { refundStatus, refundStatuses } from "../model/booking-state.ts";
import { bookingsProvider } from "../model/booking-words.ts";
import type { Passenger } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import { type Flight, seatsText } from "../model/flight.ts";
import { hasCounted, type Payment } from "../model/payment.ts";

import type * as example from "./event-examples.ts";

/**
 * The fields of `data` of all events about bookings, their payments and flights. A cancelled flight has no new times and
 * airports. Only an oversold one has seats.
 */
export const eventFields = {
  bookingId: text("The booking.", "bk_019377b07d4070008000000000000001"),
  reference: text("Its reference.", "KXPQZM"),
  seats: count("Its seats, or those of an oversold flight.", 176),
  flightId: count("The flight.", 654),
  flightNumber: text("The number of the flight.", "N4103"),
  total: amount("Its price in major units of the currency.", 999),
  currency: currencySchema,
  changeId: text("The change of the booking.", "chg_019377b07d4070008000000000000003"),
  previousSeats: count("Its seats before the change.", 3),
  previousFlightId: count("Its flight before the change.", 653),
  previousFlightNumber: text("The number of that flight.", "N4101"),
  previousTotal: amount("Its price before the change, in major units.", 1_498.5),
  penalty: amount("What was kept of that price, in major units.", 49.95),
  changeTotal: signedAmount("What was paid, or refunded if negative, in major units.", -449.55),
  passenger: count("The passenger whose data was corrected, by position.", 2),
  corrected: text("What was corrected of it.", "last name"),
  refundDue: amount("What is still to be refunded, in major units.", 899.1),
  refundStatus: word(refundStatuses, "The progress of the refund."),
  amount: text("What was paid or refunded, if it does not fit.", "USD 900.00"),
  refunded: text("What was refunded.", "USD 999.00"),
  provider: text("Who reported the payment.", "payment_processor"),
  payment: text("The payment at the provider, or those of the booking.", "pi_3Pq1"),
  eventId: text("The provider's event.", "evt_019377b07d4070008000000000000002"),
  previousDepartureTime: text("The old departure, in UTC.", "2026-12-08T13:05:00.000Z"),
  previousArrivalTime: text("The old arrival, in UTC.", "2026-12-08T20:10:00.000Z"),
  previousOrigin: text("The old origin.", "JFK"),
  previousDestination: text("The old destination.", "LHR"),
  departureTime: text("The new departure, in UTC.", "2026-12-08T15:05:00.000Z"),
  arrivalTime: text("The new arrival, in UTC.", "2026-12-08T22:10:00.000Z"),
  origin: text("The new origin.", "JFK"),
  destination: text("The new destination.", "LHR"),
  oversold: count("So many more are sold or held.", 2),
} as const satisfies DataFields;

/** The data of an event. Members that are null are left out. */
export type EventValues = Parameters<typeof dataOf<typeof eventFields>>[1];

/** What events use of a booking, its changes, passengers and payments: what the examples have. */
export type EventBooking = Pick<BookingOnFlight, keyof typeof example.booking>;
export type EventChange = Pick<BookingChange, keyof typeof example.change>;
export type EventPassenger = Pick<Passenger, keyof typeof example.passenger>;
export type EventPayments = readonly Pick<Payment, keyof (typeof example.payments)[number]>[];
export type EventNotice = Pick<PaymentNotice, keyof typeof example.notice>;
export type LastChange = NonNullable<Flight["lastChange"]>;

export interface AboutBooking {
  readonly booking: EventBooking;
  /** Ends the idempotency key, for types of which a booking can have several events. */
  readonly suffix?: readonly (string | number)[];
  /** By default the booking's reference, status and seats. */
  readonly title?: string;
  /** Fields beyond those that all events about bookings have. */
  readonly data?: EventValues;
}

export interface AboutOther extends Pick<StoredEvent, "idempotencyKey" | "subject" | "title"> {
  readonly data: EventValues;
  /** Where the console shows it. */
  readonly path?: string;
  /** The user who is not named as its actor. */
  readonly userId?: string;
}

/** A type of event. */
export interface EventType<Input extends readonly unknown[]> {
  readonly severity: Severity;
  /** The notification's text. By default the price of the booking, or the payment. */
  readonly text?: string;
  /** Whether only operators are notified, not the user who booked. */
  readonly isInternal?: boolean;
  readonly about: (...input: Input) => AboutBooking | AboutOther;
  readonly example: Input;
}

/** What is to be refunded of a booking, and of which payments. */
export function refundValues(
  { currency, refundDueMinor, refundedMinor }: EventBooking,
  payments: EventPayments,
): EventValues {
  const counted = payments.filter(hasCounted);
  return {
    refundDue: moneyOf(Math.max(0, refundDueMinor - refundedMinor), currency).amount,
    refundStatus: refundStatus({ refundDueMinor, refundedMinor }),
    provider: counted[0]?.provider ?? null,
    payment: counted.flatMap(({ reference }) => reference ?? []).join(", ") || null,
  };
}

const textOf = (minor: number, currency: string) => moneyText(moneyOf(minor, currency));
export const paidOf = (booking: EventBooking) => textOf(booking.chargedMinor, booking.currency);
export const dueOf = (booking: EventBooking) => textOf(booking.refundDueMinor, booking.currency);
export const refundedOf = (booking: EventBooking) =>
  textOf(booking.refundedMinor, booking.currency);

/** `last name` of `lastName`. */
export const inWords = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The idempotency key of the event about the last change of a flight. */
export function flightChangeKey({ id, revision }: Pick<Flight, "id" | "revision">): string {
  return `${bookingsProvider}:flight/${id}:${revision}`;
}

/** `1 seat cancelled`, or `N4103 of 2026-12-08 → N4101 of 2026-12-09`, with cabins that differ. */
export function changeTitle(
  { kind, seats }: Pick<EventChange, "kind" | "seats">,
  before: Flight,
  after: Flight,
): string {
  if (kind === "cancellation") return `${seatsText(seats)} cancelled`;
  const isOtherCabin = before.cabinClass !== after.cabinClass;
  const named = ({ flightNumber, departureTime, cabinClass }: Flight) =>
    `${flightNumber} of ${departureTime.toISOString().slice(0, 10)}${isOtherCabin ? `, ${cabinClass}` : ""}`;
  return `${named(before)} → ${named(after)}`;
}

/** Such as `N4103 departs 2026-12-08 15:05 UTC instead of 2026-12-08 13:05 UTC`. */
export function flightChangeText(
  { flightNumber, departureTime, arrivalTime, origin, destination }: Flight,
  { type, ...before }: LastChange,
): string {
  const [oldDeparture, oldArrival] = [before.previousDepartureTime, before.previousArrivalTime];
  const oldRoute = `${before.previousOrigin} → ${before.previousDestination}`;
  if (type === "flight.cancelled") {
    return `${flightNumber} ${oldRoute} of ${utc(oldDeparture)} is cancelled`;
  }
  const parts = [
    ["departs", utc(departureTime.toISOString()), utc(oldDeparture)],
    ["arrives", utc(arrivalTime.toISOString()), utc(oldArrival)],
    ["flies", `${origin} → ${destination}`, oldRoute],
  ] as const;
  const changed = parts
    .filter(([, after, old]) => after !== old)
    .map(([verb, after, old]) => `${verb} ${after} instead of ${old}`);
  return `${flightNumber} ${changed.join(", ")}`;
}

export const utc = (time: string) => `${time.slice(0, 16).replace("T", " ")} UTC`;
