import type { Source } from "../../db/paginate.ts";
import { bookingById, type BookingOnFlight, bookingPages } from "./bookings.sql.ts";
import type { Storage } from "../../db/storage.ts";
import { storedEmail } from "../../identity/users/fields.ts";

import { isBookingId } from "./booking-details.ts";

/** Which bookings to list; undefined: any. */
export interface BookingFilters {
  readonly userId: string | undefined;
  /**
   * A booking's id, its reference or its contact's e-mail address, whole; the latter two without regard
   * to case.
   */
  readonly q?: string | undefined;
}

export function bookingsMatching(
  storage: Storage,
  { userId, q }: BookingFilters,
): Source<BookingOnFlight> {
  if (q === undefined) return bookingPages(storage, { userId });
  if (isBookingId(q)) {
    return listOfOne(() => storage.all(bookingById, { id: q, userId: userId ?? null }));
  }
  if (q.includes("@")) return bookingPages(storage, { userId, contactEmail: storedEmail(q) });
  return bookingPages(storage, { userId, reference: q.toUpperCase() });
}

/** A list of one item, or none. */
function listOfOne<Item>(read: () => Promise<Item[]>): Source<Item> {
  return {
    // Nothing comes before it or after it.
    read: async ({ from, offset }) => (from === null && offset === 0 ? read() : []),
    count: async () => (await read()).length,
  };
}
