import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { notErased } from "../../identity/users/erasures.ts";
import { changedMeanwhile } from "../../inbound/receive/effects.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { bookingEventWrites, type EventMaking, ownEvent } from "../events/own-events.ts";
import { flightAt, giveSeatsBack } from "../flights/flights.sql.ts";
import { isFlightChanged } from "../model/booking-state.ts";
import type { Booking } from "../model/booking.ts";
import { type BookingOnFlight, cancelBooking, releaseHold } from "../model/bookings.sql.ts";
import type { ChangesOfBookings } from "../model/changes-of-bookings.ts";
import { paymentsOf } from "../payments/payment-view.ts";
import { type Refund, type RefundNow, refundOf, type RefundPolicy } from "../payments/refund.ts";
import { releaseWrites } from "../seats/holding.ts";

import { requireOpen } from "./own-booking.ts";

export interface CancellationParts extends EventMaking {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly refundPolicy: RefundPolicy;
  readonly clock: Clock;
  readonly changes: Pick<ChangesOfBookings, "settled">;
  /** Called after a commit that changed the number of seats left on a flight. */
  readonly seatsChanged: (flightId: Booking["flightId"]) => void;
}

/**
 * The refund for cancelling a booking now: a full one if the airline changed its flight. Throws `not-cancellable` and
 * `booking-closed`.
 */
export function refundNow(
  refundPolicy: RefundPolicy,
  booking: BookingOnFlight,
  now: Date,
): RefundNow {
  requireOpen(booking, now);
  if (booking.status === "held") return nothingPaid;
  if (isFlightChanged(booking)) {
    const reason = `The flight was ${booking.flight.cancelledAt === null ? "changed" : "cancelled"}`;
    // Also what an earlier change made non-refundable.
    const minor = Math.min(booking.totalMinor, booking.chargedMinor - booking.refundDueMinor);
    return { minor, percent: 100, reason, until: null };
  }
  return refundOf(refundPolicy, booking, booking.flight.departureTime, now);
}

const nothingPaid: RefundNow = { minor: 0, percent: 0, reason: "Nothing was paid", until: null };

/**
 * Cancels a confirmed or held booking, with the refund that was offered or is due now, and releases its seats and those of
 * an open offer, in one transaction. Throws `changedMeanwhile` if its status, its flight or the offer changed meanwhile;
 * `not-cancellable`, `booking-closed`.
 */
export async function cancelNow(
  parts: CancellationParts,
  ctx: Context,
  booking: BookingOnFlight,
  offered?: Refund,
): Promise<void> {
  const { storage, outbox, refundPolicy, clock, changes, seatsChanged } = parts;
  const now = new Date(clock.now());
  const current = refundNow(refundPolicy, booking, now);
  const { minor, percent, reason } = offered ?? current;
  const offer = await changes.settled(booking, offered !== undefined, now);
  const { id, refundDueMinor } = booking;
  const due = { ...booking, refundDueMinor: refundDueMinor + minor };
  const payments = await paymentsOf(storage, booking);
  const event = ownEvent("booking.cancelled", [due, payments], ctx.actor, parts, now);
  await storage.atomically(
    ...(offer?.writes ?? []),
    write(
      booking.status === "held" ? releaseHold : cancelBooking,
      {
        id,
        revision: booking.revision,
        updatedAt: now,
        cancelledAt: now,
        refundMinor: minor,
        refundPercent: percent,
        refundReason: reason,
      },
      changedMeanwhile,
    ),
    // The refund depends on the flight's revision.
    ...(booking.status === "held"
      ? [
          write(flightAt, booking.flight, changedMeanwhile),
          ...releaseWrites({ bookingId: id, purpose: "booking", flightId: booking.flightId }),
        ]
      : [write(giveSeatsBack, { ...booking.flight, seats: booking.seats }, changedMeanwhile)]),
    ...bookingEventWrites(outbox, event, booking.userId),
    notErased(ctx),
  );
  outbox.committed(event);
  seatsChanged(booking.flightId);
  if (offer?.flightId) seatsChanged(offer.flightId);
}
