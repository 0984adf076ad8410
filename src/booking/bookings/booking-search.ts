import type { Source } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import { storedEmail } from "../../identity/users/fields.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import { flightNumberIn } from "../model/flight-number.ts";

import type { BookingFilters } from "./booking-filters.ts";
import { bookingPages } from "./booking-pages.sql.ts";
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
