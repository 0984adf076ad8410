import { Type } from "@sinclair/typebox";

import { count, documented, instant, listOf, schemaOf, text, word } from "../../web/schema.ts";
import { cabinClasses } from "../flight.ts";

import {
  type DayLoad,
  type DepartureLoad,
  type DepartureLoads,
  type FlightLoad,
  maxLoadDays,
} from "./flight-load.ts";

const day = (description: string) =>
  Type.String({ format: "date", description, examples: ["2026-11-21"] });

const loadFields = {
  seats: count("All seats for sale, including those already sold.", 180),
  sold: count("Seats sold.", 171),
};

const dayLoadSchema = schemaOf<DayLoad>()("DayLoad", "Seats sold against capacity on one day.", {
  date: day("The day in UTC."),
  departures: count("The number of departures, counted by cabin.", 12),
  ...loadFields,
});

export const flightLoadSchema = schemaOf<FlightLoad>()(
  "FlightLoad",
  "Seats sold against capacity, by day.",
  {
    from: day("The first day, in UTC."),
    days: listOf(dayLoadSchema, { description: "In order." }),
  },
);

const departureLoadSchema = schemaOf<DepartureLoad>()(
  "DepartureLoad",
  "One cabin of one departure.",
  {
    id: Type.Integer({ minimum: 1, description: "The flight's id.", examples: [1] }),
    flightNumber: text("Airline code and number.", "BA178"),
    origin: text("IATA code of the origin airport.", "JFK"),
    destination: text("IATA code of the destination airport.", "LHR"),
    departureTime: instant({ description: "In UTC." }),
    cabinClass: word(cabinClasses, { description: "The cabin." }),
    ...loadFields,
  },
);

export const departureLoadsSchema = schemaOf<DepartureLoads>()(
  "DepartureLoads",
  "Seats sold against capacity, by departure.",
  {
    date: day("The day in UTC."),
    departures: listOf(departureLoadSchema, { description: "Earliest first." }),
    hasMore: Type.Boolean({ description: "Whether the day has more departures than listed." }),
  },
);

export const flightLoadQuery = documented(
  Type.Object({
    from: Type.Optional(day("The first day, in UTC. Defaults to today.")),
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxLoadDays,
        default: 14,
        description: "The number of days.",
      }),
    ),
  }),
);

export const departureLoadsParams = documented(Type.Object({ date: day("The day in UTC.") }));
