import { Elysia } from "elysia";

import type { Clock } from "../../base/clock.ts";
import { queriedFilters } from "../../base/filters.ts";
import { invalidParameter, single, wholeNumber } from "../../base/parameters.ts";
import { calendarDate } from "../../base/times.ts";
import { type Callers, operatorsOnly, routes } from "../../web/rest/route.ts";

import { flightFilters } from "./flight-filters.ts";
import {
  defaultLoadDays,
  departureLoadsParams,
  departureLoadsQuery,
  departureLoadsSchema,
  flightLoadQuery,
  flightLoadSchema,
  maxLoadDays,
} from "./flight-load.schema.ts";
import type { FlightLoads } from "./flight-load.ts";

/** Seats sold against capacity, for operators. */
export const flightLoadRest = (loads: FlightLoads, callers: Callers, clock: Clock) => {
  const { route } = routes(callers, "Flights", operatorsOnly);
  return new Elysia({ name: "flight-load", prefix: "/v1/flights/load" })
    .get(
      "",
      ...route("getFlightLoad", "List seats sold against capacity, by day", {
        costly: true,
        query: flightLoadQuery,
        response: flightLoadSchema,
        serve: ({ ctx, query }) => {
          const today = new Date(clock.now()).toISOString().slice(0, 10);
          const from = dayOf("from", single(query, "from") ?? today);
          const days = wholeNumber(query, "days", 1) ?? defaultLoadDays;
          if (days > maxLoadDays) throw invalidParameter("days", `From 1 to ${maxLoadDays}`);
          return loads.byDay(ctx, from, days, queriedFilters(flightFilters, query));
        },
      }),
    )
    .get(
      "/:date",
      ...route("getDepartureLoads", "List seats sold against capacity, by departure of one day", {
        costly: true,
        description: "At most 500 departures.",
        params: departureLoadsParams,
        query: departureLoadsQuery,
        response: departureLoadsSchema,
        serve: ({ ctx, params, query }) => {
          const filters = queriedFilters(flightFilters, query);
          return loads.ofDay(ctx, dayOf("date", params.date), filters);
        },
      }),
    );
};

/** In the years 1000 to 2999, far from the limits of Temporal's range. */
function dayOf(parameter: string, text: string): Temporal.PlainDate {
  const date = calendarDate(text);
  if (date !== null && date.year >= 1_000 && date.year < 3_000) return date;
  throw invalidParameter(parameter, "A date that exists, as YYYY-MM-DD");
}
