import { Elysia } from "elysia";

import { documentedHeaders, linkHeaders } from "../../web/rest/documented-headers.ts";
import { withETag } from "../../web/rest/etag.ts";
import { pageLinkHeader } from "../../web/rest/pagination.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { invalidParameter } from "../../web/rest/query.ts";
import { urlOf } from "../../web/rest/url.ts";

import type { RawFlightSearch } from "./flight-search.ts";
import {
  flightParams,
  flightSchema,
  flightSearchQuery,
  flightSearchResultSchema,
} from "./flight.schema.ts";
import type { Flights } from "./flights.ts";

/** Ids count from 1; a number that is too large to be read exactly is no flight's either. */
const idOfNone = 0;

/** Public: looking for flights needs no token. */
export const flightsRest = (flights: Flights) =>
  new Elysia({ name: "flights", prefix: "/v1/api/flights" })
    .get(
      "",
      async ({ request, set }) => {
        // Seats sell by the second: an answer kept would mislead.
        set.headers["cache-control"] = "no-cache";
        const url = urlOf(request);
        const result = await flights.search(rawSearch(url.searchParams));
        const { page, pageSize: limit, totalResults } = result;
        const link = pageLinkHeader(url, { page, limit }, page * limit < totalResults);
        if (link !== null) set.headers["link"] = link;
        return result;
      },
      {
        query: flightSearchQuery,
        response: {
          200: documentedHeaders(flightSearchResultSchema, linkHeaders),
          ...problemResponses(),
        },
        detail: {
          operationId: "searchFlights",
          tags: ["Flights"],
          summary: "Search flights",
          description:
            "Flights that leave on one calendar day at the origin, can be booked now and have seats enough, soonest first. Public.",
        },
      },
    )
    .get(
      "/:id",
      ({ params }) => {
        if (!/^-?\d+$/.test(params.id)) throw invalidParameter("id", "A whole number");
        const id = Number(params.id);
        return flights.read(Number.isSafeInteger(id) ? id : idOfNone);
      },
      {
        params: flightParams,
        mapResponse: withETag,
        response: {
          200: documentedHeaders(flightSchema, { ETag: "Changes as the flight does." }),
          ...problemResponses(404),
        },
        detail: {
          operationId: "getFlight",
          tags: ["Flights"],
          summary: "Read a flight",
          description: "Public. With `If-None-Match`, 304 when it has not changed.",
          responses: { 304: { description: "The flight is as it was." } },
        },
      },
    );

function rawSearch(query: URLSearchParams): RawFlightSearch {
  return {
    origin: textOf(query, "origin"),
    destination: textOf(query, "destination"),
    departureDate: textOf(query, "departureDate"),
    passengers: numberOf(query, "passengers"),
    cabinClass: textOf(query, "cabinClass"),
    page: numberOf(query, "page"),
    limit: numberOf(query, "limit"),
  };
}

/** A parameter's text; all of its texts, which no rule allows, when it is given more than once. */
function textOf(query: URLSearchParams, name: string): unknown {
  const values = query.getAll(name);
  return values.length > 1 ? values : values[0];
}

/** A parameter's whole number, or its text where it is none. Larger than 2⁵³ reads as 2⁵³. */
function numberOf(query: URLSearchParams, name: string): unknown {
  const value = textOf(query, name);
  if (typeof value !== "string" || !/^\d+$/.test(value)) return value;
  return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}
