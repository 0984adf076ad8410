import type { Filters, FiltersOf } from "../../base/filters.ts";
import { flightNumberIn } from "../model/flight-number.ts";

const upperCase = (text: string) => text.toUpperCase();

/** The filters of what belongs to flights: bookings, and seats sold. */
export const flightFilters = {
  flight: {
    kind: "text",
    label: "Flight",
    maxLength: 12,
    isTrimmed: true,
    asStored: (text) => flightNumberIn(text) ?? text.toUpperCase(),
    description: "Return only this flight number, ignoring case and leading zeros.",
    example: "BA178",
  },
  origin: {
    kind: "text",
    label: "Origin",
    maxLength: 3,
    isTrimmed: true,
    asStored: upperCase,
    description: "Return only flights from this airport: its IATA code, ignoring case.",
    example: "JFK",
  },
  destination: {
    kind: "text",
    label: "Destination",
    maxLength: 3,
    isTrimmed: true,
    asStored: upperCase,
    description: "Return only flights to this airport: its IATA code, ignoring case.",
    example: "LHR",
  },
} as const satisfies Filters;

export type FlightFilters = FiltersOf<typeof flightFilters>;
