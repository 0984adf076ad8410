import type { Actor } from "../../base/context.ts";
import { type Write, write } from "../../db/statement.ts";
import { notErased } from "../../identity/users/erasures.ts";
import { changedMeanwhile } from "../../inbound/receive/effects.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { bookingEventWrites, type EventMaking, ownEvent } from "../events/own-events.ts";
import { giveSeatsBack } from "../flights/flights.sql.ts";
import type { BookingChange } from "../model/booking-change.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import type { ChangeTransaction, SettledChange } from "../model/changes-of-bookings.ts";
import type { Flight } from "../model/flight.ts";
import type { Payment } from "../model/payment.ts";
import { releaseWrites } from "../seats/holding.ts";
import { deleteHold, resizeHold } from "../seats/seat-holds.sql.ts";

import { cancelPassenger, endChange, reviseBooking } from "./changes.sql.ts";

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
): ChangeTransaction {
  const after = changedBooking(booking, change, newFlight, paidMinor, now);
  const input = [after, booking, change, payments] as const;
  const event = ownEvent("booking.changed", input, actor, making, now);
  const { id: bookingId } = booking;
  return {
    event,
    writes: [
      write(reviseBooking, { ...after, revision: booking.revision }, changedMeanwhile),
      endWrite(change, "confirmed", now),
      ...(newFlight === null ? change.passengers : []).map((position) =>
        write(cancelPassenger, { bookingId, position, cancelledAt: now }),
      ),
      // Those of a new flight are sold now.
      write(deleteHold, { bookingId, purpose: "change" }),
      ...(booking.status === "held"
        ? [write(resizeHold, { bookingId, purpose: "booking", seats: after.seats })]
        : []),
      write(giveSeatsBack, { ...booking.flight, seats: change.seats }, changedMeanwhile),
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

type EndStatus = "withdrawn" | "expired" | "confirmed";

/** Ends an open offer. Throws `changedMeanwhile` if it has ended. */
function endWrite(change: BookingChange, status: EndStatus, now: Date): Write<unknown> {
  const confirmedAt = status === "confirmed" ? now : null;
  const ended = { ...change, from: change.status, status, updatedAt: now, confirmedAt };
  return write(endChange, ended, changedMeanwhile);
}

/** Ends an open offer, and gives back what it held. */
export function endingOf(change: BookingChange, status: EndStatus, now: Date): SettledChange {
  const { bookingId, flightId, newFlightId } = change;
  const held = { bookingId, purpose: "change", flightId: newFlightId ?? flightId } as const;
  return {
    writes: [endWrite(change, status, now), ...releaseWrites(held)],
    flightId: newFlightId,
  };
}
