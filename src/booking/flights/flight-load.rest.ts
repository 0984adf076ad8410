import { Elysia } from "elysia";

import type { Clock } from "../../base/clock.ts";
import { type Authenticated, bearer } from "../../web/rest/auth.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { invalidParameter, single, wholeNumber } from "../../web/rest/query.ts";
import { urlOf } from "../../web/rest/url.ts";

import {
  departureLoadsParams,
  departureLoadsSchema,
  flightLoadQuery,
  flightLoadSchema,
} from "./flight-load.schema.ts";
import { type FlightLoads, maxLoadDays } from "./flight-load.ts";

const defaultDays = 14;

/** How full flights are, for operators. */
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
        detail: {
          operationId: "getFlightLoad",
          tags: ["Operators"],
          security: bearer,
          summary: "See seats sold against capacity, day by day",
          description: "Needs the role operator or admin.",
        },
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
        detail: {
          operationId: "getDepartureLoads",
          tags: ["Operators"],
          security: bearer,
          summary: "See how full each departure of a day is",
          description: "500 at most. Needs the role operator or admin.",
        },
      },
    );

/** Days beyond these are nobody's, and near the ends of what there is in the calendar. */
const thinkable = /^[12]\d{3}-\d{2}-\d{2}$/;

function dayOf(parameter: string, text: string): Temporal.PlainDate {
  try {
    if (thinkable.test(text)) return Temporal.PlainDate.from(text, { overflow: "reject" });
  } catch {
    // There is no such day in the calendar: said below.
  }
  throw invalidParameter(parameter, "A date that exists, as YYYY-MM-DD");
}
