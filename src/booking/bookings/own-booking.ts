import { type Context, isAdmin } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { Storage } from "../../db/storage.ts";
import type { Booking } from "../booking.ts";

import { isBookingId } from "./booking-details.ts";
import { bookingById, type BookingOnFlight } from "./bookings.sql.ts";

/**
 * A booking that the caller may access. Throws `booking-not-found`. The query filters by owner, so that a booking of
 * another user and a missing one produce the same error in the same time.
 */
export async function ownBooking(
  storage: Storage,
  ctx: Context,
  id: string,
): Promise<BookingOnFlight> {
  const userId = accessibleTo(ctx);
  const [booking] = isBookingId(id) ? await storage.all(bookingById, { id, userId }) : [];
  if (booking === undefined) {
    throw new AppError("booking-not-found", "No booking has this id");
  }
  return booking;
}

/** The owner whose bookings the caller may access; null for all owners. */
export function accessibleTo(ctx: Context): Booking["userId"] | null {
  return isAdmin(ctx) ? null : ctx.actor.id;
}
