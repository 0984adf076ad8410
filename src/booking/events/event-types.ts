import { makeId } from "../../base/ids.ts";
import { moneyOf, moneyText } from "../../base/money.ts";
import type { Event } from "../../event/event.ts";
import type { Severity } from "../../event/new-notification.ts";
import { bookingsProvider } from "../model/booking-words.ts";
import { oversoldBy } from "../model/flight-change.ts";
import { type Flight, seatsText } from "../model/flight.ts";

import {
  changeTitle,
  dueOf,
  type EventBooking,
  type EventChange,
  type EventNotice,
  type EventPassenger,
  type EventPayments,
  flightChangeKey,
  flightChangeText,
  inWords,
  type LastChange,
  paidOf,
  refundedOf,
  refundValues,
  utc,
} from "./event-content.ts";
import * as example from "./event-examples.ts";

const plain = (severity: Severity) => ({
  severity,
  about: (booking: EventBooking) => ({ booking }),
  example: [example.booking] as const,
});

/** Money that does not fit a booking. `expectedMinor`: what had to be paid. */
const problem = (
  titleOf: (booking: EventBooking, amount: string, expected: string) => string,
  booking: EventBooking,
  amount = example.notice.amount,
) => ({
  severity: "error" as const,
  isInternal: true,
  about(booking: EventBooking, notice: EventNotice, expectedMinor: number, eventId: Event["id"]) {
    const { amount, provider, payment } = notice;
    const title = titleOf(booking, amount, moneyText(moneyOf(expectedMinor, booking.currency)));
    return { booking, suffix: [eventId], title, data: { amount, provider, payment, eventId } };
  },
  example: [booking, { ...example.notice, amount }, booking.totalMinor, example.eventId] as const,
});

/** What operators must look at. */
const problems = {
  "payment.mismatch": problem(
    ({ reference }, amount, expected) =>
      `Payment of booking ${reference} does not match: ${amount} instead of ${expected}`,
    { ...example.booking, status: "held" },
    "USD 900.00",
  ),
  "payment.unseated": problem(
    ({ reference, status }, amount) =>
      `Booking ${reference} is ${status} and has no seats: refund ${amount}`,
    { ...example.booking, status: "expired" },
  ),
  "payment.surplus": problem(
    ({ reference }, amount) => `Booking ${reference} was paid twice: refund ${amount}`,
    example.paid,
  ),
  "payment.overrefunded": problem(
    (booking, amount) =>
      `Booking ${booking.reference} was refunded ${amount}; ${dueOf(booking)} was due and ${paidOf(booking)} paid`,
    example.refunded,
    "USD 1200.00",
  ),
  "payment.refund_failed": problem(
    (booking, amount) =>
      `Refund of ${amount} of booking ${booking.reference} failed: ${refundedOf(booking)} of ${dueOf(booking)} due is refunded`,
    example.refunded,
  ),
};

/** The airline changed a flight. */
const flightChange = (type: LastChange["type"]) => ({
  severity: "warning" as const,
  text: "Its bookings can be cancelled with a full refund or changed free of charge",
  about(flight: Flight, change: LastChange) {
    const { id: flightId, flightNumber, origin, destination } = flight;
    const { type: _, changedAt: __, ...previous } = change;
    const departureTime = flight.departureTime.toISOString();
    const arrivalTime = flight.arrivalTime.toISOString();
    const present = { departureTime, arrivalTime, origin, destination };
    return {
      idempotencyKey: flightChangeKey(flight),
      subject: `flight/${flightId}`,
      title: flightChangeText(flight, change),
      data: { flightId, flightNumber, ...previous, ...(type === "flight.changed" && present) },
    };
  },
  example: [example.changedFlight, { type, ...example.flightChange }] as const,
});

/** Events about bookings, their payments and flights, by type. The docs list them in this order. */
export const eventTypes = {
  "booking.held": plain("info"),
  "booking.expired": plain("info"),
  "booking.confirmed": plain("success"),
  "booking.cancelled": {
    severity: "warning",
    about: (booking: EventBooking, payments: EventPayments) => ({
      booking,
      data: refundValues(booking, payments),
    }),
    example: [{ ...example.paid, refundDueMinor: 89_910 }, example.payments],
  },
  "booking.changed": {
    severity: "info",
    about(after: EventBooking, before: EventBooking, change: EventChange, payments: EventPayments) {
      const { id: changeId, currency, changeTotalMinor } = change;
      const money = (minor: number) => moneyOf(minor, currency).amount;
      return {
        booking: after,
        suffix: [changeId],
        title: `Booking ${after.reference} changed: ${changeTitle(change, before.flight, after.flight)}`,
        data: {
          changeId,
          previousSeats: before.seats,
          previousFlightId: before.flight.id,
          previousFlightNumber: before.flight.flightNumber,
          previousTotal: money(change.previousTotalMinor),
          penalty: money(change.penaltyMinor),
          changeTotal: money(changeTotalMinor),
          ...(changeTotalMinor < 0 && refundValues(after, payments)),
        },
      };
    },
    example: [example.booking, { ...example.booking, seats: 3 }, example.change, example.payments],
  },
  /** `cause`: the provider's event; null if an admin records the refund, with `now`. */
  "booking.refunded": {
    severity: "info",
    about(booking: EventBooking, sum: string, cause: Event["id"] | null, now: Date, note = "") {
      const suffix = [cause ?? makeId("rf", now.getTime())];
      const title = `Booking ${booking.reference} refunded: ${sum} of ${paidOf(booking)}${note}`;
      return { booking, suffix, title, data: { refunded: sum, eventId: cause } };
    },
    example: [example.refunded, example.notice.amount, example.eventId, example.now],
  },
  /** Names the fields, never their values. */
  "booking.corrected": {
    severity: "info",
    about(booking: EventBooking, passenger: EventPassenger, fields: readonly string[]) {
      const { position, corrections } = passenger;
      const corrected = fields.map(inWords).join(", ");
      const title = `Booking ${booking.reference} corrected: ${corrected} of passenger ${position}`;
      const data = { passenger: position, corrected };
      return { booking, suffix: [position, corrections + 1], title, data };
    },
    example: [example.paid, example.passenger, ["lastName"]],
  },
  ...problems,
  /** A payment that names no booking. */
  "payment.unassigned": {
    severity: "error",
    about: ({ amount, provider }: EventNotice, payment: string, eventId: Event["id"]) => ({
      idempotencyKey: `${bookingsProvider}:payment/${provider}/${payment}`,
      subject: `payment/${payment}`,
      title: `${amount} was paid, but names no booking, while bookings wait for their payment`,
      path: `#/events/${eventId}`,
      data: { amount, provider, payment, eventId },
    }),
    example: [example.notice, example.notice.payment, example.eventId],
  },
  "flight.changed": flightChange("flight.changed"),
  "flight.cancelled": flightChange("flight.cancelled"),
  /** Fewer seats than are sold. `now`: the time of the import. */
  "flight.oversold": {
    severity: "error",
    text: "No more seats are sold. Offer passengers another flight.",
    about(flight: Flight, now: Date) {
      const { id: flightId, flightNumber, seats, origin, destination } = flight;
      const oversold = oversoldBy(flight);
      const departureTime = flight.departureTime.toISOString();
      return {
        idempotencyKey: `${bookingsProvider}:flight/${flightId}:oversold:${now.toISOString()}`,
        subject: `flight/${flightId}`,
        title: `${flightNumber} ${origin} → ${destination} of ${utc(departureTime)} has ${seatsText(seats)}, and ${seats + oversold} are sold or held`,
        data: { flightId, flightNumber, seats, oversold, origin, destination, departureTime },
      };
    },
    example: [{ ...example.flight, seatsAvailable: -2 }, example.now],
  },
} as const;

export type OwnEventType = keyof typeof eventTypes;
export type InputOf<Type extends OwnEventType> = Readonly<
  Parameters<(typeof eventTypes)[Type]["about"]>
>;
export type PaymentProblem = keyof typeof problems;
// Guarantee: nothing adds members to the objects above.
export const ownEventTypes = Object.keys(eventTypes) as readonly OwnEventType[];
export const bookingEventTypes = ownEventTypes.filter((type) => type.startsWith("booking."));
export const paymentProblems = Object.keys(problems) as readonly PaymentProblem[];
