import type { Source } from "../../db/paginate.ts";
import { bookingById, type BookingOnFlight, bookingPages } from "./bookings.sql.ts";
import type { Storage } from "../../db/storage.ts";
import { storedEmail } from "../../identity/users/fields.ts";

import { isBookingId } from "./booking-details.ts";

/** Which bookings to list. Undefined means any. */
export interface BookingFilters {
  readonly userId: string | undefined;
  /**
   * An exact booking id, reference or contact e-mail address. References and addresses are matched ignoring
   * case.
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

/** A list with at most one item. */
function listOfOne<Item>(read: () => Promise<Item[]>): Source<Item> {
  return {
    // No items before or after it.
    read: async ({ from, offset }) => (from === null && offset === 0 ? read() : []),
    count: async () => (await read()).length,
  };
}
