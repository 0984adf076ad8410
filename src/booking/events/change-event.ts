import type { Actor } from "../../base/context.ts";
import { moneyOf } from "../../base/money.ts";
import type { StoredEvent } from "../../event/event.ts";
import { dataOf } from "../../inbound/providers/event-fields.ts";
import type { BookingChange } from "../model/booking-change.ts";
import type { Booking } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import { type Flight, seatsText } from "../model/flight.ts";
import type { Payment } from "../model/payment.ts";

import { bookingData, bookingEvent, bookingEventKey } from "./booking-event.ts";
import type { EventMaking } from "./own-event.ts";
import { refundData } from "./payment-event.ts";

/** The idempotency key of the event about a change. */
export function changeEventKey(bookingId: Booking["id"], changeId: BookingChange["id"]): string {
  return `${bookingEventKey("booking.changed", bookingId)}:${changeId}`;
}

/** Makes the event about a change, with the booking before and after. `actor`: null if a payment caused it. `payments`: what a refund is of. */
export function changeEvent(
  before: BookingOnFlight,
  after: BookingOnFlight,
  change: BookingChange,
  payments: readonly Payment[],
  actor: Actor | null,
  making: EventMaking,
  now: Date,
): StoredEvent {
  const event = bookingEvent("booking.changed", after, actor, making, now);
  const money = (minor: number) => moneyOf(minor, change.currency).amount;
  return {
    ...event,
    idempotencyKey: changeEventKey(before.id, change.id),
    title: `Booking ${before.reference} changed: ${changeTitle(change, before.flight, after.flight)}`,
    data: {
      ...event.data,
      ...dataOf(bookingData, {
        changeId: change.id,
        previousSeats: before.seats,
        previousFlightId: before.flight.id,
        previousFlightNumber: before.flight.flightNumber,
        previousTotal: money(change.previousTotalMinor),
        penalty: money(change.penaltyMinor),
        changeTotal: money(change.changeTotalMinor),
      }),
      ...(change.changeTotalMinor < 0 && refundData(after, payments)),
    },
  };
}

/** `1 seat cancelled`, or `N4103 of 2026-12-08 → N4101 of 2026-12-09`, with cabins that differ. */
export function changeTitle(
  { kind, seats }: Pick<BookingChange, "kind" | "seats">,
  before: Flight,
  after: Flight,
): string {
  if (kind === "cancellation") return `${seatsText(seats)} cancelled`;
  const isOtherCabin = before.cabinClass !== after.cabinClass;
  const named = ({ flightNumber, departureTime, cabinClass }: Flight) =>
    `${flightNumber} of ${departureTime.toISOString().slice(0, 10)}${isOtherCabin ? `, ${cabinClass}` : ""}`;
  return `${named(before)} → ${named(after)}`;
}
