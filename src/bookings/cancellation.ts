import type { Clock } from "../clock.ts";
import type { Context } from "../context.ts";
import { AppError } from "../errors.ts";
import { departed } from "../flights/flight.ts";
import type { MakeId } from "../ids.ts";
import type { Outbox } from "../notifications/outbox.ts";
import { type BookingOnFlight, cancelBooking } from "../storage/bookings.ts";
import { insertEvent } from "../storage/events.ts";
import { giveSeatsBack } from "../storage/flights.ts";
import { step } from "../storage/sql.ts";
import type { Storage } from "../storage/storage.ts";

import { bookingEvent, bookingMessage } from "./booking-event.ts";
import { type Refund, refundOf, type RefundPolicy } from "./refund.ts";

export interface CancellationParts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly refundPolicy: RefundPolicy;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/** What cancelling a confirmed booking now pays back. Throws `not-cancellable` after departure. */
export function refundNow(refundPolicy: RefundPolicy, booking: BookingOnFlight, now: Date): Refund {
  if (departed(booking.flight, now)) {
    throw new AppError("not-cancellable", "The flight has departed");
  }
  return refundOf(refundPolicy, booking, booking.flight.departureTime, now);
}

/**
 * Cancels a confirmed booking and gives its seats back, in one unit of work. False, and nothing done, when
 * somebody else was first. Throws `not-cancellable`.
 */
export async function cancelNow(
  { storage, outbox, refundPolicy, clock, makeId }: CancellationParts,
  ctx: Context,
  booking: BookingOnFlight,
): Promise<boolean> {
  const now = new Date(clock.now());
  const { minor, percent, reason } = refundNow(refundPolicy, booking, now);
  const event = bookingEvent("booking.cancelled", booking, ctx.actor, makeId, now);
  const [cancelled] = await storage.atomically(
    step(
      cancelBooking,
      {
        id: booking.id,
        updatedAt: now,
        cancelledAt: now,
        refundMinor: minor,
        refundPercent: percent,
        refundReason: reason,
      },
      // Somebody else was first: they gave the seats back.
      "stop",
    ),
    step(giveSeatsBack, { id: booking.flightId, seats: booking.seats }),
    step(insertEvent, event),
    ...outbox.stepsFor(event, [bookingMessage(event)]),
  );
  return cancelled.touched > 0;
}
