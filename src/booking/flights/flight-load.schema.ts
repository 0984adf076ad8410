import { type Static, Type } from "@sinclair/typebox";

import { filterParameters } from "../../web/filters.schema.ts";
import {
  count,
  documented,
  flag,
  instant,
  listOf,
  resource,
  text,
  word,
} from "../../web/schema.ts";
import { cabinClasses, flightIdSchema } from "../model/flight.ts";

import { flightFilters } from "./flight-filters.ts";

export const defaultLoadDays = 14;
export const maxLoadDays = 62;

const day = (description: string) =>
  Type.String({ format: "date", description, examples: ["2026-11-21"] });

const loadFields = {
  seats: count("All seats for sale, including those already sold.", 180),
  sold: count("Seats sold.", 171),
};

const dayLoadSchema = resource("DayLoad", "Seats sold against capacity on one day.", {
  date: day("The day in UTC."),
  departures: count("The number of departures, counted by cabin.", 12),
  ...loadFields,
});

export const flightLoadSchema = resource("FlightLoad", "Seats sold against capacity, by day.", {
  from: day("The first day, in UTC."),
  days: listOf(dayLoadSchema, "In order."),
});

export interface FlightLoad extends Static<typeof flightLoadSchema> {}

const departureLoadSchema = resource("DepartureLoad", "One cabin of one departure.", {
  id: flightIdSchema,
  flightNumber: text("Airline code and number.", "BA178"),
  origin: text("IATA code of the origin airport.", "JFK"),
  destination: text("IATA code of the destination airport.", "LHR"),
  departureTime: instant("In UTC."),
  departureLocal: text(
    "Local time at the origin, with its UTC offset.",
    "2026-11-21T18:25:00-05:00",
  ),
  cabinClass: word(cabinClasses, "The cabin."),
  ...loadFields,
});

export interface DepartureLoad extends Static<typeof departureLoadSchema> {}

export const departureLoadsSchema = resource(
  "DepartureLoads",
  "Seats sold against capacity, by departure.",
  {
    date: day("The day in UTC."),
    departures: listOf(departureLoadSchema, "Earliest first."),
    hasMore: flag("Whether the day has more departures than listed."),
  },
);

export interface DepartureLoads extends Static<typeof departureLoadsSchema> {}

export const flightLoadQuery = documented(
  Type.Object({
    from: Type.Optional(day("The first day, in UTC. Defaults to today.")),
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxLoadDays,
        default: defaultLoadDays,
        description: "The number of days.",
      }),
    ),
    ...filterParameters(flightFilters),
  }),
);

export const departureLoadsQuery = documented(Type.Object(filterParameters(flightFilters)));

export const departureLoadsParams = documented(Type.Object({ date: day("The day in UTC.") }));
