import { Type } from "@sinclair/typebox";

import { count, documented, instant, listOf, schemaOf, text, word } from "../../web/rest/schema.ts";

import {
  type DayLoad,
  type DepartureLoad,
  type DepartureLoads,
  type FlightLoad,
  maxLoadDays,
} from "./flight-load.ts";
import { cabinClasses } from "../flight.ts";

const day = (description: string) =>
  Type.String({ format: "date", description, examples: ["2026-11-21"] });

const loadFields = {
  seats: count("Seats there are to sell, sold ones included.", 180),
  sold: count("Seats sold.", 171),
};

const dayLoadSchema = schemaOf<DayLoad>()("DayLoad", "All departures of one day.", {
  date: day("The day in UTC."),
  departures: count("Cabins of departures.", 12),
  ...loadFields,
});

export const flightLoadSchema = schemaOf<FlightLoad>()(
  "FlightLoad",
  "Seats sold against capacity, day by day.",
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
    origin: text("IATA code of the airport it leaves from.", "JFK"),
    destination: text("IATA code of the airport it goes to.", "LHR"),
    departureTime: instant({ description: "In UTC." }),
    cabinClass: word(cabinClasses, { description: "The cabin that is sold." }),
    ...loadFields,
  },
);

export const departureLoadsSchema = schemaOf<DepartureLoads>()(
  "DepartureLoads",
  "Seats sold against capacity, departure by departure.",
  {
    date: day("The day in UTC."),
    departures: listOf(departureLoadSchema, { description: "Soonest first." }),
    hasMore: Type.Boolean({ description: "Whether there were more than are told." }),
  },
);

export const flightLoadQuery = documented(
  Type.Object({
    from: Type.Optional(day("The first day, in UTC; today when left out.")),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: maxLoadDays, default: 14, description: "How many." }),
    ),
  }),
);

export const departureLoadsParams = documented(Type.Object({ date: day("The day in UTC.") }));
