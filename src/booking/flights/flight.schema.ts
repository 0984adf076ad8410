import { type Static, Type } from "@sinclair/typebox";

import { defaultLimit, maxLimit } from "../../base/page.ts";
import {
  count,
  documented,
  listOf,
  moneySchema,
  nullable,
  resource,
  word,
} from "../../web/schema.ts";
import {
  airportSchema,
  cabinClasses,
  flightIdSchema,
  flightSchema,
  maxPassengers,
} from "../flight.ts";

import { maxCalendarDays, maxFlexibleDays } from "./flight-search.ts";

const pageFields = (items: string) => ({
  page: Type.Integer({ minimum: 1, description: "The number of this page.", examples: [1] }),
  pageSize: Type.Integer({
    minimum: 1,
    maximum: maxLimit,
    description: `The maximum number of ${items} per page.`,
    examples: [defaultLimit],
  }),
});

const day = (description: string, example: string) =>
  Type.String({ format: "date", description, examples: [example] });

export const cheapestFlightSchema = resource(
  "CheapestFlight",
  "The flight with the lowest price in one currency.",
  {
    flightId: flightIdSchema,
    price: moneySchema,
  },
);

export const flightDaySchema = resource("FlightDay", "The lowest prices of one day.", {
  date: day("The calendar day of departure, in local time at the origin.", "2026-12-01"),
  flightCount: count("The number of flights that can be booked, counted by cabin.", 4),
  cheapest: nullable(
    listOf(cheapestFlightSchema),
    "One flight for each currency, by currency code: prices in different currencies are not compared. Null for a day without flights.",
  ),
});

export const flightCalendarSchema = resource("FlightCalendar", "The lowest prices by day.", {
  days: listOf(flightDaySchema, { description: "Every day, in order.", maxItems: maxCalendarDays }),
});

export interface FlightCalendar extends Static<typeof flightCalendarSchema> {}

export const flightSearchResultSchema = resource(
  "FlightSearchResult",
  "One page of matching flights, earliest departure first.",
  {
    flights: listOf(flightSchema, "Ordered by departure, then by id."),
    totalResults: count("The exact number of matching flights on all pages.", 1),
    ...pageFields("flights"),
    calendar: Type.Optional(flightCalendarSchema),
  },
);

export interface FlightSearchResult extends Static<typeof flightSearchResultSchema> {}

export const flightTripSchema = resource("FlightTrip", "An outbound and an inbound flight.", {
  outbound: flightSchema,
  inbound: flightSchema,
  totalPrice: moneySchema,
});

export const flightTripsSchema = resource("FlightTrips", "One page of return trips.", {
  trips: listOf(
    flightTripSchema,
    "By currency, then by total price, then by outbound and inbound departure.",
  ),
  totalResults: count("The number of trips on all pages.", 4),
  mixedCurrencies: count(
    "The number of pairs that are left out, because their flights are priced in different currencies.",
    0,
  ),
  ...pageFields("trips"),
});

export interface FlightTrips extends Static<typeof flightTripsSchema> {}

const departureDate = day(
  "The calendar day of departure, in local time at the origin.",
  "2026-12-01",
);
const routeParameters = {
  origin: airportSchema("IATA code of the origin airport.", "JFK"),
  destination: airportSchema("IATA code of the destination airport.", "LHR"),
};
const partyParameters = {
  passengers: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPassengers,
      default: 1,
      description: `Return only flights with at least this many seats left, 1 to ${maxPassengers}.`,
    }),
  ),
  cabinClass: Type.Optional(word(cabinClasses, { description: "Return only this cabin." })),
};
const pageParameters = (items: string) => ({
  page: Type.Optional(
    Type.Integer({ minimum: 1, default: 1, description: "The page number, from 1." }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: defaultLimit,
      description: `${items} per page. Values above ${maxLimit} are treated as ${maxLimit}.`,
    }),
  ),
});

export const flightSearchQuery = documented(
  Type.Object({
    ...routeParameters,
    departureDate,
    ...partyParameters,
    ...pageParameters("Flights"),
    flexibleDays: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxFlexibleDays,
        default: 0,
        description: `Add a calendar with the lowest prices from this many days before departureDate to as many after it, 0 to ${maxFlexibleDays}.`,
      }),
    ),
  }),
);

export const flightCalendarQuery = documented(
  Type.Object({
    ...routeParameters,
    from: day("The first day, in local time at the origin.", "2026-12-01"),
    to: day(
      `The last day, in local time at the origin. At most ${maxCalendarDays} days in all.`,
      "2026-12-31",
    ),
    ...partyParameters,
  }),
);

export const flightTripsQuery = documented(
  Type.Object({
    ...routeParameters,
    departureDate,
    returnDate: day(
      "The calendar day of the return flight, in local time at the destination.",
      "2026-12-08",
    ),
    ...partyParameters,
    ...pageParameters("Trips"),
  }),
);

/** A string at run time: the route itself rejects ids that are not numbers, with the API's 400. */
export const flightParams = documented(Type.Object({ id: Type.Unsafe<string>(flightIdSchema) }));
