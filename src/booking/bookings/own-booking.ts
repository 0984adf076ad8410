import { type Context, isAdmin } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { invalid } from "../../base/validation.ts";
import type { Storage } from "../../db/storage.ts";
import type { Booking } from "../model/booking.ts";
import { bookingById, type BookingOnFlight } from "../model/bookings.sql.ts";
import { isBookingId } from "../model/find-booking.ts";
import { hasDeparted } from "../model/flight.ts";

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

/**
 * Requires that a booking can be changed or cancelled. Throws `not-cancellable` if its flight has departed, and nothing
 * else; `booking-closed` in any other state.
 */
export function requireOpen({ status, flight }: BookingOnFlight, now: Date): void {
  if (hasDeparted(flight, now)) throw new AppError("not-cancellable", "The flight has departed");
  if (status === "held" || status === "confirmed") return;
  const why =
    status === "expired" ? "hold has expired and its seats were released" : "booking is cancelled";
  throw new AppError("booking-closed", `The ${why}`);
}

/** How requests name some of the passengers. */
const partNames = ["passengers", "passenger", "positions", "position", "seats"];

/**
 * Throws `validation-failed` if a request names some of the passengers where all are meant. Unknown members are ignored
 * elsewhere; here, all passengers would be cancelled or moved.
 */
export function refusePart(body: unknown): void {
  if (typeof body !== "object" || body === null) return;
  const named = Object.entries(body).find(
    ([name, value]) => partNames.includes(name) && value !== null,
  );
  if (named === undefined) return;
  const [name] = named;
  throw invalid(
    `/${name}`,
    `This applies to all passengers. Leave out ${name}, or cancel some with POST …/cancellation.`,
  );
}

/** The owner whose bookings the caller may access; null for all owners. */
export function accessibleTo(ctx: Context): Booking["userId"] | null {
  return isAdmin(ctx) ? null : ctx.actor.id;
}
