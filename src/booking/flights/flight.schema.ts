import { type Static, Type } from "@sinclair/typebox";

import { defaultLimit, maxLimit } from "../../base/page.ts";
import { count, documented, listOf, resource, word } from "../../web/schema.ts";
import {
  airportSchema,
  cabinClasses,
  flightIdSchema,
  flightSchema,
  maxPassengers,
} from "../flight.ts";

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
