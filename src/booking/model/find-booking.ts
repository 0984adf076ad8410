import type { Storage } from "../../db/storage.ts";

import type { Booking } from "./booking.ts";
import { bookingById, bookingByReference, type BookingOnFlight } from "./bookings.sql.ts";

export function isBookingId(id: string): id is Booking["id"] {
  return /^bk_[0-9a-f]{1,64}$/.test(id);
}

/** The booking with an id or reference, ignoring case, white space and hyphens. Of any owner. */
export async function findBooking(
  storage: Storage,
  named: string,
): Promise<BookingOnFlight | undefined> {
  const name = named.replaceAll(/[\s-]+/g, "");
  const id = name.toLowerCase();
  const reference = name.toUpperCase();
  const [found] = isBookingId(id)
    ? await storage.all(bookingById, { id, userId: null })
    : /^[A-Z]{6}$/.test(reference)
      ? await storage.all(bookingByReference, { reference })
      : [];
  return found;
}
