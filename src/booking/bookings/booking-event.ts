import type { Actor } from "../../base/context.ts";
import { emptyEvent, type Event, type StoredEvent } from "../../gateway/event.ts";
import type { MakeId } from "../../base/ids.ts";
import { moneyOf, moneyText } from "../../base/money.ts";
import type { Message } from "../../gateway/notification.ts";
import type { BookingOnFlight } from "./bookings.sql.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";

import type { Booking } from "../booking.ts";

/** The `provider` of booking events. */
export const bookingsProvider = "bookings";

export const bookingEventTypes = ["booking.confirmed", "booking.cancelled"] as const;
export type BookingEventType = (typeof bookingEventTypes)[number];

/** The idempotency key of a booking's event. Each booking has at most one event of each type. */
export function bookingEventKey(type: BookingEventType, id: Booking["id"]): string {
  return `${bookingsProvider}:${id}:${type.replace("booking.", "")}`;
}

/**
 * Makes the event about a booking for operators. It holds no personal data: no name, e-mail address, birth
 * date or passport, and no id of the owner, from which name and e-mail address could be looked up. The
 * actor is an admin's id, or null for the owner.
 */
export function bookingEvent(
  type: BookingEventType,
  { id, reference, userId, seats, totalMinor, currency, flight }: BookingOnFlight,
  actor: Actor,
  makeId: MakeId,
  now: Date,
): StoredEvent {
  const status = type === "booking.confirmed" ? "confirmed" : "cancelled";
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
    actor: actor.id === userId ? null : actor.id,
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

/** The notification about a booking event. */
export function bookingMessage({ title, type, data, url }: Event): Message {
  const text = moneyText({ amount: Number(data["total"]), currency: String(data["currency"]) });
  return { title, text, url, severity: type === "booking.confirmed" ? "success" : "warning" };
}
