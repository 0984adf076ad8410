import { maxActorIdLength } from "../../base/context.ts";
import type { Filters, FiltersOf } from "../../base/filters.ts";

/** The filters of the list of bookings. */
export const bookingFilters = {
  userId: {
    kind: "text",
    label: "User",
    maxLength: maxActorIdLength,
    description: "Return this user's bookings only. Only admins may name another user.",
  },
  q: {
    kind: "text",
    label: "Search",
    // The longest e-mail address.
    maxLength: 254,
    isTrimmed: true,
    description:
      "Return bookings with exactly this id, reference, contact e-mail address, flight number or last name of a passenger, ignoring case. Only for admins.",
    example: "KXQWZA",
  },
} as const satisfies Filters;

export type BookingFilters = FiltersOf<typeof bookingFilters>;
