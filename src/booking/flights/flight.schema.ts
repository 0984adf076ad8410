import { Type } from "@sinclair/typebox";

import type { Money } from "../../base/money.ts";
import { defaultLimit, maxLimit } from "../../base/page.ts";
import { count, documented, instant, listOf, schemaOf, text, word } from "../../web/rest/schema.ts";

import { cabinClasses, type FlightView, maxPassengers } from "../flight.ts";
import type { FlightSearchResult } from "./flights.ts";

export const moneySchema = schemaOf<Money>()("Money", "An amount of money.", {
  amount: Type.Number({
    minimum: 0,
    description: "In major units of the currency, with as many decimals as ISO 4217 gives it.",
    examples: [499.5],
  }),
  currency: currencySchema(),
});

export function currencySchema() {
  return Type.String({ pattern: "^[A-Z]{3}$", description: "ISO 4217 code.", examples: ["USD"] });
}

const airportSchema = (description: string, example: string) =>
  Type.String({ pattern: "^[A-Za-z]{3}$", description, examples: [example] });

const flightIdSchema = Type.Integer({
  minimum: 1,
  description: "The flight's id.",
  examples: [1],
});

export const flightSchema = schemaOf<FlightView>()(
  "Flight",
  "One bookable cabin of one departure.",
  {
    id: flightIdSchema,
    flightNumber: text("Airline code and number.", "BA178"),
    airline: text("Name of the airline.", "British Airways"),
    origin: airportSchema("IATA code of the airport it leaves from.", "JFK"),
    destination: airportSchema("IATA code of the airport it goes to.", "LHR"),
    departureTime: instant({ description: "In UTC." }),
    arrivalTime: instant({ description: "In UTC.", examples: ["2026-12-02T06:25:00.000Z"] }),
    duration: text("Hours and minutes.", "7h 00m"),
    durationMinutes: count("Minutes from departure to arrival.", 420),
    departureLocal: text(
      "Wall clock at the origin, with its offset from UTC.",
      "2026-12-01T18:25:00-05:00",
    ),
    arrivalLocal: text(
      "Wall clock at the destination, with its offset from UTC.",
      "2026-12-02T06:25:00+00:00",
    ),
    cabinClass: word(cabinClasses, { description: "The cabin that is sold." }),
    price: moneySchema,
    seatsAvailable: count("Seats left in this cabin.", 42),
    createdAt: instant({ description: "When the flight was put on sale." }),
  },
);

export const flightSearchResultSchema = schemaOf<FlightSearchResult>()(
  "FlightSearchResult",
  "One page of the flights found, soonest first.",
  {
    flights: listOf(flightSchema),
    totalResults: count("Flights found on all pages, exactly.", 1),
    page: Type.Integer({ minimum: 1, description: "This page's number.", examples: [1] }),
    pageSize: Type.Integer({
      minimum: 1,
      maximum: maxLimit,
      description: "Flights a page may have.",
      examples: [defaultLimit],
    }),
  },
);

export const flightSearchQuery = documented(
  Type.Object({
    origin: airportSchema("IATA code of the airport to leave from.", "JFK"),
    destination: airportSchema("IATA code of the airport to go to.", "LHR"),
    departureDate: Type.String({
      format: "date",
      description: "Calendar day at the origin.",
      examples: ["2026-12-01"],
    }),
    passengers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxPassengers,
        default: 1,
        description: "Seats that must be left.",
      }),
    ),
    cabinClass: Type.Optional(word(cabinClasses, { description: "Only flights of this cabin." })),
    page: Type.Optional(
      Type.Integer({ minimum: 1, default: 1, description: "Which page, from 1." }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        default: defaultLimit,
        description: `Flights a page; above ${maxLimit} is taken as ${maxLimit}.`,
      }),
    ),
  }),
);

/** As text at run time: what is no number is refused by our own 400. */
export const flightParams = documented(Type.Object({ id: Type.Unsafe<string>(flightIdSchema) }));
