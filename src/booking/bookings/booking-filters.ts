import { maxActorIdLength } from "../../base/context.ts";
import type { Filters, FiltersOf } from "../../base/filters.ts";
import { flightFilters } from "../flights/flight-filters.ts";
import { bookingStatuses, paymentStates, paymentStateTexts } from "../model/booking-words.ts";

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
  status: {
    kind: "word",
    label: "Status",
    words: bookingStatuses,
    description: "Return bookings with this status only.",
  },
  payment: {
    kind: "word",
    label: "Payment",
    words: [...paymentStates, "problem"],
    description: "Return bookings whose payment is in this state only.",
    details: `${paymentStateTexts} \`problem\`, whatever the state: a payment or refund did not fit the booking.`,
  },
  ...flightFilters,
  departsFrom: {
    kind: "instant",
    label: "Departs from",
    description: "Return bookings of flights that depart at this time or later.",
  },
  departsTo: {
    kind: "instant",
    label: "Departs to",
    description: "Return bookings of flights that depart before this time.",
  },
  from: {
    kind: "instant",
    label: "From",
    description: "Return bookings made at this time or later.",
  },
  to: { kind: "instant", label: "To", description: "Return bookings made before this time." },
} as const satisfies Filters;

export type BookingFilters = FiltersOf<typeof bookingFilters>;
