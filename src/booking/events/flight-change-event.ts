import type { DataFields } from "../../event/data-fields.ts";
import type { Event, EventContent, StoredEvent } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import { dataOf } from "../../inbound/providers/event-fields.ts";
import { count, text } from "../../web/schema.ts";
import { bookingsProvider } from "../model/booking-words.ts";
import { oversoldBy } from "../model/flight-change.ts";
import { type Flight, flightEventTypes, seatsText } from "../model/flight.ts";

import { ownEvent } from "./own-event.ts";

/** A cancelled flight has no new times and airports. Only an oversold one has seats. */
export const flightChangeData = {
  flightId: count("The flight.", 654),
  flightNumber: text("The number of the flight.", "N4103"),
  previousDepartureTime: text("The old departure, in UTC.", "2026-12-08T13:05:00.000Z"),
  previousArrivalTime: text("The old arrival, in UTC.", "2026-12-08T20:10:00.000Z"),
  previousOrigin: text("The old origin.", "JFK"),
  previousDestination: text("The old destination.", "LHR"),
  departureTime: text("The new departure, in UTC.", "2026-12-08T15:05:00.000Z"),
  arrivalTime: text("The new arrival, in UTC.", "2026-12-08T22:10:00.000Z"),
  origin: text("The new origin.", "JFK"),
  destination: text("The new destination.", "LHR"),
  seats: count("The seats of an oversold flight.", 176),
  oversold: count("So many more are sold or held.", 2),
} as const satisfies DataFields;

/** The idempotency key of the event about the last change of a flight. */
export function flightChangeKey({ id, revision }: Pick<Flight, "id" | "revision">): string {
  return `${bookingsProvider}:flight/${id}:${revision}`;
}

/** Makes the event about the last change of a flight, for operators. */
export function flightChangeEvent(
  flight: Flight,
  change: NonNullable<Flight["lastChange"]>,
  now: Date,
): StoredEvent {
  const { type, changedAt: _, ...previous } = change;
  const { id: flightId, flightNumber, departureTime, arrivalTime, origin, destination } = flight;
  const present = {
    departureTime: departureTime.toISOString(),
    arrivalTime: arrivalTime.toISOString(),
    origin,
    destination,
  };
  const data = { flightId, flightNumber, ...previous, ...(type === "flight.changed" && present) };
  return ownEvent(
    {
      type,
      idempotencyKey: flightChangeKey(flight),
      subject: `flight/${flightId}`,
      title: flightChangeText(flight, change),
      data: dataOf(flightChangeData, data),
    },
    now,
  );
}

/** Such as `N4103 departs 2026-12-08 15:05 UTC instead of 2026-12-08 13:05 UTC`. */
export function flightChangeText(
  { flightNumber, departureTime, arrivalTime, origin, destination }: Flight,
  { type, ...before }: NonNullable<Flight["lastChange"]>,
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

const utc = (time: string) => `${time.slice(0, 16).replace("T", " ")} UTC`;

/** Makes the event about a flight that has fewer seats than are sold. `now` is the time of the import. */
export function oversoldEvent(flight: Flight, now: Date): StoredEvent {
  const { id: flightId, flightNumber, seats, origin, destination, departureTime } = flight;
  const oversold = oversoldBy(flight);
  const data = { flightId, flightNumber, seats, oversold, origin, destination };
  const departs = departureTime.toISOString();
  return ownEvent(
    {
      type: "flight.oversold",
      idempotencyKey: `${bookingsProvider}:flight/${flightId}:oversold:${now.toISOString()}`,
      subject: `flight/${flightId}`,
      title: `${flightNumber} ${origin} → ${destination} of ${utc(departs)} has ${seatsText(seats)}, and ${seats + oversold} are sold or held`,
      data: dataOf(flightChangeData, { ...data, departureTime: departs }),
    },
    now,
  );
}

export function isFlightEvent({ type }: Pick<Event, "type">): boolean {
  return flightEventTypes.some((each) => each === type);
}

export function flightNotification({ type, title, url }: EventContent): NewNotification {
  const next =
    type === "flight.oversold"
      ? "No more seats are sold. Offer passengers another flight."
      : "Its bookings can be cancelled with a full refund or changed free of charge";
  return { title, text: next, url, severity: type === "flight.oversold" ? "error" : "warning" };
}
