import { Type } from "@sinclair/typebox";

import type { Money } from "../../base/money.ts";
import { defaultLimit, maxLimit } from "../../base/page.ts";
import {
  amount,
  count,
  documented,
  instant,
  listOf,
  schemaOf,
  text,
  word,
} from "../../web/schema.ts";
import { cabinClasses, type FlightView, maxPassengers } from "../flight.ts";

import type { FlightSearchResult } from "./flights.ts";

export const moneySchema = schemaOf<Money>()("Money", "An amount of money.", {
  amount: amount("In major units of the currency, with the currency's decimals (ISO 4217).", 499.5),
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
  "One cabin of one departure, which can be booked.",
  {
    id: flightIdSchema,
    flightNumber: text("Airline code and number.", "BA178"),
    airline: text("Name of the airline.", "British Airways"),
    origin: airportSchema("IATA code of the origin airport.", "JFK"),
    destination: airportSchema("IATA code of the destination airport.", "LHR"),
    departureTime: instant({ description: "In UTC." }),
    arrivalTime: instant({ description: "In UTC.", examples: ["2026-12-02T06:25:00.000Z"] }),
    duration: text("Hours and minutes.", "7h 00m"),
    durationMinutes: count("Minutes from departure to arrival.", 420),
    departureLocal: text(
      "Local time at the origin, with its UTC offset.",
      "2026-12-01T18:25:00-05:00",
    ),
    arrivalLocal: text(
      "Local time at the destination, with its UTC offset.",
      "2026-12-02T06:25:00+00:00",
    ),
    cabinClass: word(cabinClasses, { description: "The cabin." }),
    price: moneySchema,
    seatsAvailable: count("Seats left in this cabin.", 42),
    createdAt: instant({ description: "When the flight was put on sale." }),
  },
);

export const flightSearchResultSchema = schemaOf<FlightSearchResult>()(
  "FlightSearchResult",
  "One page of matching flights, earliest departure first.",
  {
    flights: listOf(flightSchema, { description: "Ordered by departure, then by id." }),
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

export const flightSearchQuery = documented(
  Type.Object({
    origin: airportSchema("IATA code of the origin airport.", "JFK"),
    destination: airportSchema("IATA code of the destination airport.", "LHR"),
    departureDate: Type.String({
      format: "date",
      description: "The calendar day of departure, in local time at the origin.",
      examples: ["2026-12-01"],
    }),
    passengers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxPassengers,
        default: 1,
        description: "Return only flights with at least this many seats left.",
      }),
    ),
    cabinClass: Type.Optional(word(cabinClasses, { description: "Return only this cabin." })),
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

/** A string at run time: the route itself rejects ids that are not numbers, with the API's 400. */
export const flightParams = documented(Type.Object({ id: Type.Unsafe<string>(flightIdSchema) }));
