import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { insertEvent } from "../../event/events.sql.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { departed } from "../flight.ts";
import { giveSeatsBack } from "../flights/flights.sql.ts";

import { bookingEvent, bookingNotification } from "./booking-event.ts";
import { type BookingOnFlight, cancelBooking, releaseHold } from "./bookings.sql.ts";
import { type Refund, refundOf, type RefundPolicy } from "./refund.ts";

export interface CancellationParts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly refundPolicy: RefundPolicy;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/**
 * The refund for cancelling a booking now. Throws `not-cancellable` after departure, and when the hold has
 * expired.
 */
export function refundNow(refundPolicy: RefundPolicy, booking: BookingOnFlight, now: Date): Refund {
  if (departed(booking.flight, now)) {
    throw new AppError("not-cancellable", "The flight has departed");
  }
  if (booking.status === "expired") {
    throw new AppError("not-cancellable", "The hold has expired and its seats were released");
  }
  if (booking.status === "held") return nothingPaid;
  return refundOf(refundPolicy, booking, booking.flight.departureTime, now);
}

const nothingPaid: Refund = { minor: 0, percent: 0, reason: "Nothing was paid" };

/**
 * Cancels a confirmed or held booking and releases its seats, in one transaction. Returns false and changes nothing
 * if its status changed meanwhile. Throws `not-cancellable`.
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
      booking.status === "held" ? releaseHold : cancelBooking,
      {
        id: booking.id,
        updatedAt: now,
        cancelledAt: now,
        refundMinor: minor,
        refundPercent: percent,
        refundReason: reason,
      },
      // Another request, the payment or the expiry of the hold came first.
      "stop",
    ),
    write(giveSeatsBack, { id: booking.flightId, seats: booking.seats }),
    write(insertEvent, event),
    ...outbox.writesFor(event, [bookingNotification(event)], { ownerId: booking.userId }),
  );
  if (cancelled.changes === 0) return false;
  outbox.committed(event);
  return true;
}
