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
} from "../model/flight.ts";

import { maxCalendarDays } from "./flight-search.ts";

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
    page: Type.Integer({ minimum: 1, description: "The number of this page.", examples: [1] }),
    pageSize: Type.Integer({
      minimum: 1,
      maximum: maxLimit,
      description: "The maximum number of flights per page.",
      examples: [defaultLimit],
    }),
  },
);

export interface FlightSearchResult extends Static<typeof flightSearchResultSchema> {}

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
export const flightSearchQuery = documented(
  Type.Object({
    ...routeParameters,
    departureDate: day("The calendar day of departure, in local time at the origin.", "2026-12-01"),
    ...partyParameters,
    page: Type.Optional(
      Type.Integer({ minimum: 1, default: 1, description: "The page number, from 1." }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        default: defaultLimit,
        description: `Flights per page. Values above ${maxLimit} are treated as ${maxLimit}.`,
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

/** A string at run time: the route itself rejects ids that are not numbers, with the API's 400. */
export const flightParams = documented(Type.Object({ id: Type.Unsafe<string>(flightIdSchema) }));
