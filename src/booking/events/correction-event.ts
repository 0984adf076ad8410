import type { Actor } from "../../base/context.ts";
import type { StoredEvent } from "../../event/event.ts";
import { dataOf } from "../../inbound/providers/event-fields.ts";
import type { Booking, Passenger } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";

import { bookingData, bookingEvent, bookingEventKey } from "./booking-event.ts";
import type { EventMaking } from "./own-event.ts";

/** The idempotency keys of the events about the corrections of passengers. */
export function correctionKeys(
  id: Booking["id"],
  passengers: readonly Pick<Passenger, "position" | "corrections">[],
): readonly string[] {
  return passengers.flatMap(({ position, corrections }) =>
    Array.from({ length: corrections }, (_, index) => correctionKey(id, position, index + 1)),
  );
}

function correctionKey(id: Booking["id"], position: number, correction: number): string {
  return `${bookingEventKey("booking.corrected", id)}:${position}:${correction}`;
}

/** Makes the event about a correction: it names the fields, never their values. `correction`: from 1 for each passenger. */
export function correctionEvent(
  booking: BookingOnFlight,
  position: number,
  correction: number,
  fields: readonly string[],
  actor: Actor,
  making: EventMaking,
  now: Date,
): StoredEvent {
  const event = bookingEvent("booking.corrected", booking, actor, making, now);
  const corrected = fields
    .map((name) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
    .join(", ");
  return {
    ...event,
    idempotencyKey: correctionKey(booking.id, position, correction),
    title: `Booking ${booking.reference} corrected: ${corrected} of passenger ${position}`,
    data: { ...event.data, ...dataOf(bookingData, { passenger: position, corrected }) },
  };
}
