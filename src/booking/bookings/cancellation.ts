import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { departed } from "../flight.ts";
import type { MakeId } from "../../base/ids.ts";
import type { Outbox } from "../../gateway/notifications/outbox.ts";
import { type BookingOnFlight, cancelBooking } from "./bookings.sql.ts";
import { insertEvent } from "../../gateway/events/events.sql.ts";
import { giveSeatsBack } from "../flights/flights.sql.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import { bookingEvent, bookingMessage } from "./booking-event.ts";
import { type Refund, refundOf, type RefundPolicy } from "./refund.ts";

export interface CancellationParts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly refundPolicy: RefundPolicy;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/** The refund for cancelling a confirmed booking now. Throws `not-cancellable` after departure. */
export function refundNow(refundPolicy: RefundPolicy, booking: BookingOnFlight, now: Date): Refund {
  if (departed(booking.flight, now)) {
    throw new AppError("not-cancellable", "The flight has departed");
  }
  return refundOf(refundPolicy, booking, booking.flight.departureTime, now);
}

/**
 * Cancels a confirmed booking and releases its seats, in one transaction. Returns false and changes nothing
 * if a concurrent request cancelled it first. Throws `not-cancellable`.
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
    write(
      cancelBooking,
      {
        id: booking.id,
        updatedAt: now,
        cancelledAt: now,
        refundMinor: minor,
        refundPercent: percent,
        refundReason: reason,
      },
      // A concurrent request cancelled the booking first and released the seats.
      "stop",
    ),
    write(giveSeatsBack, { id: booking.flightId, seats: booking.seats }),
    write(insertEvent, event),
    ...outbox.writesFor(event, [bookingMessage(event)]),
  );
  return cancelled.changes > 0;
}
