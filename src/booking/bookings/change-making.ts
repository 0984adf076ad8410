import type { Actor } from "../../base/context.ts";
import { type Write, write } from "../../db/statement.ts";
import type { StoredEvent } from "../../event/event.ts";
import { notErased } from "../../identity/users/erasures.ts";
import { changedMeanwhile } from "../../inbound/receive/effects.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import type { BookingChange } from "../booking-change.ts";
import type { Flight } from "../flight.ts";
import { giveSeatsBack, giveSeatsBackAt } from "../flights/flights.sql.ts";
import type { EventMaking } from "../own-event.ts";
import type { Payment } from "../payment.ts";

import { bookingEventWrites } from "./booking-event.ts";
import type { BookingOnFlight } from "./bookings.sql.ts";
import { changeEvent } from "./change-event.ts";
import { cancelPassenger, endChange, reviseBooking } from "./changes.sql.ts";

/** What makes a change, in one transaction. */
export interface Making {
  readonly writes: readonly Write<unknown>[];
  readonly event: StoredEvent;
}

interface Caller {
  /** Null if a payment causes the change. */
  readonly actor: Actor | null;
  /** What a payment event paid, in minor units. */
  readonly paidMinor: number;
  /** The payments of the booking, of which a refund is. */
  readonly payments: readonly Payment[];
}

/**
 * The writes that make a change: of one transaction, which throws `changedMeanwhile` if the booking or the offer is not
 * the one that was read. `newFlight`: null for a cancellation of some passengers.
 */
export function makingOf(
  making: EventMaking & { readonly outbox: Outbox },
  booking: BookingOnFlight,
  change: BookingChange,
  newFlight: Flight | null,
  { actor, paidMinor, payments }: Caller,
  now: Date,
): Making {
  const after = changedBooking(booking, change, newFlight, paidMinor, now);
  const event = changeEvent(booking, after, change, payments, actor, making, now);
  const { id: bookingId } = booking;
  const ended = { ...change, status: "confirmed", updatedAt: now, confirmedAt: now } as const;
  return {
    event,
    writes: [
      write(reviseBooking, { ...after, revision: booking.revision }, changedMeanwhile),
      write(endChange, { ...ended, from: change.status }, changedMeanwhile),
      ...(newFlight === null ? change.passengers : []).map((position) =>
        write(cancelPassenger, { bookingId, position, cancelledAt: now }),
      ),
      // Those of a new flight are held by the offer.
      write(giveSeatsBackAt, { ...booking.flight, seats: change.seats }, changedMeanwhile),
      ...bookingEventWrites(making.outbox, event, booking.userId),
      ...(actor === null ? [] : [notErased({ actor })]),
    ],
  };
}

/** The booking after a change. */
function changedBooking(
  booking: BookingOnFlight,
  { seats, newTotalMinor, changeTotalMinor, keptMinor }: BookingChange,
  newFlight: Flight | null,
  paidMinor: number,
  now: Date,
): BookingOnFlight {
  const flight = newFlight ?? booking.flight;
  return {
    ...booking,
    flight,
    flightId: flight.id,
    flightRevision: newFlight?.revision ?? booking.flightRevision,
    seats: newFlight === null ? booking.seats - seats : booking.seats,
    totalMinor: newTotalMinor,
    chargedMinor: booking.chargedMinor + Math.max(0, changeTotalMinor),
    paidMinor: paidMinor === 0 ? booking.paidMinor : (booking.paidMinor ?? 0) + paidMinor,
    refundDueMinor: booking.refundDueMinor + Math.max(0, -changeTotalMinor),
    keptMinor: booking.keptMinor + keptMinor,
    updatedAt: now,
  };
}

/**
 * The writes that end an open offer and give back what it held. They throw `changedMeanwhile` if it has ended. The first one
 * must be the first of the transaction: PostgreSQL receives the next ones before it answers any other, and would reject seats
 * that are given back twice.
 */
export function endingOf(
  change: BookingChange,
  status: "withdrawn" | "expired" | "confirmed",
  now: Date,
): readonly Write<unknown>[] {
  const { status: from, newFlightId, seats } = change;
  const confirmedAt = status === "confirmed" ? now : null;
  return [
    write(endChange, { ...change, from, status, updatedAt: now, confirmedAt }, changedMeanwhile),
    ...(newFlightId === null ? [] : [write(giveSeatsBack, { id: newFlightId, seats })]),
  ];
}
