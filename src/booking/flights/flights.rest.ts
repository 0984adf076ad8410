import { Elysia } from "elysia";

import { invalidParameter } from "../../base/parameters.ts";
import type { Exchange } from "../../web/auth.ts";
import type { Connection } from "../../web/client-address.ts";
import { withETag } from "../../web/etag.ts";
import { documentedHeaders, linkHeaders } from "../../web/rest/documented-headers.ts";
import { pageLinkHeader } from "../../web/rest/pagination.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import type { Callers } from "../../web/rest/route.ts";
import { urlOf } from "../../web/url.ts";
import { flightSchema } from "../model/flight.ts";

import type { RawParameters } from "./flight-parameters.ts";
import {
  flightCalendarQuery,
  flightCalendarSchema,
  flightParams,
  flightSearchQuery,
  type FlightSearchResult,
  flightSearchResultSchema,
} from "./flight.schema.ts";
import type { Flights } from "./flights.ts";

/** Ids start at 1. Numbers too large to be exact are looked up as 0, which no flight has. */
const unusedId = 0;

/** Public: these routes need no token. */
export const flightsRest = (flights: Flights, { admit }: Pick<Callers, "admit">) =>
  new Elysia({ name: "flights", prefix: "/v1/api/flights" })
    .get("", (exchange) => searched(exchange, flights, admit), {
      query: flightSearchQuery,
      response: {
        200: documentedHeaders(flightSearchResultSchema, linkHeaders),
        ...problemResponses(429),
      },
      detail: {
        operationId: "searchFlights",
        tags: ["Flights"],
        summary: "Search flights",
        description:
          "Returns flights that depart on one calendar day at the origin, can be booked now and have enough seats left, earliest departure first. Public.",
      },
    })
    .get(
      "/calendar",
      (exchange) => {
        exchange.set.headers["cache-control"] = seatsChange;
        const { searchParams } = urlOf(exchange.request);
        return flights.calendar(rawParameters(searchParams), admit(exchange));
      },
      {
        query: flightCalendarQuery,
        response: { 200: flightCalendarSchema, ...problemResponses(429) },
        detail: {
          operationId: "getFlightCalendar",
          tags: ["Flights"],
          summary: "List the lowest prices by day",
          description:
            "Returns every day of a range with its cheapest flight in each currency, among the flights that a search for the day returns. Public.",
        },
      },
    )
    .get(
      "/:id",
      ({ params }) => {
        if (!/^-?\d+$/.test(params.id)) throw invalidParameter("id", "A whole number");
        const id = Number(params.id);
        return flights.read(Number.isSafeInteger(id) ? id : unusedId);
      },
      {
        params: flightParams,
        mapResponse: withETag,
        response: {
          200: documentedHeaders(flightSchema, { ETag: "Changes whenever the flight changes." }),
          ...problemResponses(404),
        },
        detail: {
          operationId: "getFlight",
          tags: ["Flights"],
          summary: "Read a flight",
          description: "Public. With `If-None-Match`, returns 304 if the flight has not changed.",
          responses: { 304: { description: "The flight has not changed." } },
        },
      },
    );

/** The number of seats left changes all the time, so caches must revalidate. */
const seatsChange = "no-cache";

/** Serves a numbered page with its `Link` header. */
async function searched(
  exchange: Exchange & Connection,
  flights: Flights,
  admit: Callers["admit"],
): Promise<FlightSearchResult> {
  const { request, set } = exchange;
  set.headers["cache-control"] = seatsChange;
  const url = urlOf(request);
  const result = await flights.search(rawParameters(url.searchParams), admit(exchange));
  const { page, pageSize: limit, totalResults } = result;
  const link = pageLinkHeader(url, { page, limit }, page * limit < totalResults);
  if (link !== null) set.headers["link"] = link;
  return result;
}

/** The parameters of a query. A repeated one is an array, which validation rejects. */
function rawParameters(query: URLSearchParams): RawParameters {
  const values = [...new Set(query.keys())].map((name) => [name, query.getAll(name)] as const);
  return Object.fromEntries(values.map(([name, all]) => [name, all.length > 1 ? all : all[0]]));
}
