import type { Actor } from "../../base/context.ts";
import type { MakeId } from "../../base/ids.ts";
import { moneyOf, moneyText } from "../../base/money.ts";
import { emptyEvent, type Event, type StoredEvent } from "../../event/event.ts";
import type { NewNotification, Severity } from "../../event/new-notification.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";
import type { PaymentProblem } from "../booking-state.ts";
import type { Booking } from "../booking.ts";

import type { BookingOnFlight } from "./bookings.sql.ts";

/** The `provider` of booking events. */
export const bookingsProvider = "bookings";

export const bookingEventTypes = [
  "booking.held",
  "booking.expired",
  "booking.confirmed",
  "booking.cancelled",
  "booking.refunded",
] as const;
export type BookingEventType = (typeof bookingEventTypes)[number];

const severityOf: Readonly<Record<BookingEventType, Severity>> = {
  "booking.held": "info",
  "booking.expired": "info",
  "booking.confirmed": "success",
  "booking.cancelled": "warning",
  "booking.refunded": "info",
};

/** The idempotency key of a booking's event. Each booking has at most one event of each type, but for refunds. */
export function bookingEventKey(
  type: BookingEventType | PaymentProblem,
  id: Booking["id"],
): string {
  return `${bookingsProvider}:${id}:${type.replace("booking.", "")}`;
}

/**
 * Makes the event about a booking for operators. It holds no personal data: no name, e-mail address, birth
 * date or passport, and no id of the owner, from which name and e-mail address could be looked up. The
 * actor is an admin's id, or null for the owner and where no caller was involved. `actor`: null for the latter.
 */
export function bookingEvent(
  type: BookingEventType | PaymentProblem,
  { id, reference, userId, seats, totalMinor, currency, flight }: BookingOnFlight,
  actor: Actor | null,
  makeId: MakeId,
  now: Date,
): StoredEvent {
  const status = type.replace("booking.", "");
  const places = seats === 1 ? "1 seat" : `${seats} seats`;
  const route = `${flight.flightNumber} ${flight.origin} → ${flight.destination}`;
  const day = flight.departureTime.toISOString().slice(0, 10);
  return {
    ...emptyEvent,
    id: makeId("evt", now.getTime()),
    provider: bookingsProvider,
    type,
    status: "accepted",
    idempotencyKey: bookingEventKey(type, id),
    occurredAt: now,
    createdAt: now,
    subject: `booking/${id}`,
    title: `Booking ${reference} ${status}: ${places} on ${route}, ${day}`,
    actor: actor === null || actor.id === userId ? null : actor.id,
    data: {
      bookingId: id,
      reference,
      seats,
      flightId: flight.id,
      flightNumber: flight.flightNumber,
      total: moneyOf(totalMinor, currency).amount,
      currency,
    },
    headers: withTrace(null),
  };
}

/** The notification about a booking event, or about money that does not fit a booking. */
export function bookingNotification({ title, type, data, url }: Event): NewNotification {
  const known = bookingEventTypes.find((each) => each === type);
  const text = moneyText({ amount: Number(data["total"]), currency: String(data["currency"]) });
  return { title, text, url, severity: known === undefined ? "error" : severityOf[known] };
}
