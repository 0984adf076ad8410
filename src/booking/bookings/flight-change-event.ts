import type { MakeId } from "../../base/ids.ts";
import type { DataFields } from "../../event/data-fields.ts";
import type { Event, StoredEvent } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import { dataOf } from "../../inbound/providers/event-fields.ts";
import { text } from "../../web/schema.ts";
import type { Booking } from "../booking.ts";
import { type FlightChange, flightChangeTypes } from "../flight-change.ts";

import { bookingEvent, bookingEventKey } from "./booking-event.ts";
import type { BookingOnFlight } from "./bookings.sql.ts";

/** What events about a change of a booking's flight have besides. A cancelled flight has no new times and airports. */
export const flightChangeData = {
  changeId: text(
    "The change of its flight. All bookings of the flight have the same.",
    "fch_019377b07d40",
  ),
  previousDepartureTime: text("The old departure, in UTC.", "2026-12-08T13:05:00.000Z"),
  previousArrivalTime: text("The old arrival, in UTC.", "2026-12-08T20:10:00.000Z"),
  previousOrigin: text("The old origin.", "JFK"),
  previousDestination: text("The old destination.", "LHR"),
  departureTime: text("The new departure, in UTC.", "2026-12-08T15:05:00.000Z"),
  arrivalTime: text("The new arrival, in UTC.", "2026-12-08T22:10:00.000Z"),
  origin: text("The new origin.", "JFK"),
  destination: text("The new destination.", "LHR"),
  answer: text("`needed`: the owner is asked to accept or cancel. `none`: a small move.", "needed"),
} as const satisfies DataFields;

/** Each booking has at most one event about each change. */
export function flightChangeEventKey(
  { type, id }: Pick<FlightChange, "type" | "id">,
  booking: Booking["id"],
): string {
  return `${bookingEventKey(type, booking)}:${id}`;
}

/** Makes the event about how the flight of a booking changed, for its owner and operators. */
export function flightChangeEvent(
  booking: BookingOnFlight,
  change: FlightChange,
  makeId: MakeId,
  now: Date,
): StoredEvent {
  const event = bookingEvent(change.type, booking, null, makeId, now);
  const isCancelled = change.type === "flight.cancelled";
  return {
    ...event,
    idempotencyKey: flightChangeEventKey(change, booking.id),
    title: `Booking ${booking.reference}: ${flightChangeText(change, booking.flight.flightNumber)}`,
    data: {
      ...event.data,
      ...dataOf(flightChangeData, {
        changeId: change.id,
        previousDepartureTime: change.previousDepartureTime.toISOString(),
        previousArrivalTime: change.previousArrivalTime.toISOString(),
        previousOrigin: change.previousOrigin,
        previousDestination: change.previousDestination,
        ...(!isCancelled && {
          departureTime: change.departureTime.toISOString(),
          arrivalTime: change.arrivalTime.toISOString(),
          origin: change.origin,
          destination: change.destination,
        }),
        answer: change.asksOwners ? "needed" : "none",
      }),
    },
  };
}

/** What changed, such as `N4003 departs 2026-12-08 15:05 UTC instead of 2026-12-08 13:05 UTC`. */
export function flightChangeText(change: FlightChange, flightNumber: string): string {
  const { previousDepartureTime, previousArrivalTime, previousOrigin, previousDestination } =
    change;
  const oldRoute = `${previousOrigin} → ${previousDestination}`;
  if (change.type === "flight.cancelled") {
    return `${flightNumber} ${oldRoute} of ${utc(previousDepartureTime)} is cancelled`;
  }
  const route = `${change.origin} → ${change.destination}`;
  const parts = [
    ["departs", utc(change.departureTime), utc(previousDepartureTime)],
    ["arrives", utc(change.arrivalTime), utc(previousArrivalTime)],
    ["flies", route, oldRoute],
  ] as const;
  const changed = parts
    .filter(([, after, before]) => after !== before)
    .map(([verb, after, before]) => `${verb} ${after} instead of ${before}`);
  return `${flightNumber} ${changed.join(", ")}`;
}

const utc = (time: Date) => `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;

export function isFlightChangeEvent({ type }: Pick<Event, "type">): boolean {
  return flightChangeTypes.some((each) => each === type);
}

export function flightChangeNotification({ title, type, data, url }: Event): NewNotification {
  const asksOwner = data["answer"] === "needed";
  const asked =
    type === "flight.cancelled"
      ? "Cancel the booking for a full refund"
      : "Accept the change, or cancel the booking for a full refund";
  return {
    title,
    text: asksOwner ? asked : "No answer is needed",
    url,
    severity: asksOwner ? "warning" : "info",
  };
}
