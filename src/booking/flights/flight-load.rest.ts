import { Elysia } from "elysia";

import { calendarDate } from "../../base/calendar-date.ts";
import type { Clock } from "../../base/clock.ts";
import { invalidParameter, single, wholeNumber } from "../../base/parameters.ts";
import { type Authenticated, operations, operatorsOnly } from "../../web/rest/auth.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { urlOf } from "../../web/rest/url.ts";

import {
  departureLoadsParams,
  departureLoadsSchema,
  flightLoadQuery,
  flightLoadSchema,
} from "./flight-load.schema.ts";
import { type FlightLoads, maxLoadDays } from "./flight-load.ts";

const defaultDays = 14;

const operation = operations("Operators", operatorsOnly);

/** Seats sold against capacity, for operators. */
export const flightLoadRest = (loads: FlightLoads, authenticated: Authenticated, clock: Clock) =>
  new Elysia({ name: "flight-load", prefix: "/v1/flights/load" })
    .get(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const query = urlOf(exchange.request).searchParams;
        const today = new Date(clock.now()).toISOString().slice(0, 10);
        const from = dayOf("from", single(query, "from") ?? today);
        const days = wholeNumber(query, "days", 1) ?? defaultDays;
        if (days > maxLoadDays) throw invalidParameter("days", `From 1 to ${maxLoadDays}`);
        return loads.byDay(ctx, from, days);
      },
      {
        query: flightLoadQuery,
        response: { 200: flightLoadSchema, ...problemResponses(401, 403) },
        detail: operation("getFlightLoad", "List seats sold against capacity, by day"),
      },
    )
    .get(
      "/:date",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return loads.ofDay(ctx, dayOf("date", exchange.params.date));
      },
      {
        params: departureLoadsParams,
        response: { 200: departureLoadsSchema, ...problemResponses(401, 403) },
        detail: operation(
          "getDepartureLoads",
          "List seats sold against capacity, by departure of one day",
          "At most 500 departures.",
        ),
      },
    );

/** In the years 1000 to 2999, far from the limits of Temporal's range. */
function dayOf(parameter: string, text: string): Temporal.PlainDate {
  const date = calendarDate(text);
  if (date !== null && date.year >= 1_000 && date.year < 3_000) return date;
  throw invalidParameter(parameter, "A date that exists, as YYYY-MM-DD");
}
