import type { Source } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import { storedEmail } from "../../identity/users/fields.ts";
import { flightNumberIn } from "../flight-number.ts";

import { isBookingId } from "./booking-details.ts";
import type { BookingFilters } from "./booking-filters.ts";
import { bookingPages } from "./booking-pages.sql.ts";
import { bookingById, bookingByReference, type BookingOnFlight } from "./bookings.sql.ts";
import { foldedName } from "./name-folding.ts";

export function bookingsMatching(
  storage: Storage,
  { q, status, payment, from, to, ...others }: BookingFilters,
  now: Date,
): Source<BookingOnFlight> {
  const filters = {
    ...others,
    ...(q !== undefined &&
      (q.includes("@")
        ? { contactEmail: storedEmail(q) }
        : { found: foldedName(flightNumberIn(q) ?? q) })),
    status: status === "flown" ? "confirmed" : status,
    ...(payment !== undefined && { [payment]: "" }),
    ...(status === "confirmed" && { notDepartedBy: now }),
    ...(status === "flown" && { departedBy: now }),
  };
  return bookingPages(storage, filters, { from, to });
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
