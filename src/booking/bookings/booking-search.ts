import type { Source } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import { storedEmail } from "../../identity/users/fields.ts";

import { isBookingId } from "./booking-details.ts";
import type { BookingFilters } from "./booking-filters.ts";
import {
  bookingById,
  bookingByReference,
  type BookingOnFlight,
  bookingPages,
} from "./bookings.sql.ts";
import { foldedName } from "./name-folding.ts";

export function bookingsMatching(
  storage: Storage,
  { userId, q }: BookingFilters,
): Source<BookingOnFlight> {
  if (q === undefined) return bookingPages(storage, { userId });
  if (isBookingId(q)) {
    return listOfOne(() => storage.all(bookingById, { id: q, userId: userId ?? null }));
  }
  if (q.includes("@")) return bookingPages(storage, { userId, contactEmail: storedEmail(q) });
  return bookingPages(storage, { userId, found: foldedName(q) });
}

/** A list with at most one item. */
function listOfOne<Item>(read: () => Promise<Item[]>): Source<Item> {
  return {
    // No items before or after it.
    read: async ({ from, offset }) => (from === null && offset === 0 ? read() : []),
    count: async () => (await read()).length,
  };
}

/** The booking with an id or reference, ignoring case. Of any owner. */
export async function findBooking(
  storage: Storage,
  named: string,
): Promise<BookingOnFlight | undefined> {
  const id = named.toLowerCase();
  const reference = named.toUpperCase();
  const [found] = isBookingId(id)
    ? await storage.all(bookingById, { id, userId: null })
    : /^[A-Z]{6}$/.test(reference)
      ? await storage.all(bookingByReference, { reference })
      : [];
  return found;
}
