import { Elysia } from "elysia";

import { invalidParameter } from "../../base/parameters.ts";
import { withETag } from "../../web/etag.ts";
import { documentedHeaders, linkHeaders } from "../../web/rest/documented-headers.ts";
import { pageLinkHeader } from "../../web/rest/pagination.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { urlOf } from "../../web/url.ts";
import { flightSchema } from "../flight.ts";

import type { RawFlightSearch } from "./flight-search.ts";
import { flightParams, flightSearchQuery, flightSearchResultSchema } from "./flight.schema.ts";
import type { Flights } from "./flights.ts";

/** Ids start at 1. Numbers too large to be exact are looked up as 0, which no flight has. */
const unusedId = 0;

/** Public: these routes need no token. */
export const flightsRest = (flights: Flights) =>
  new Elysia({ name: "flights", prefix: "/v1/api/flights" })
    .get(
      "",
      async ({ request, set }) => {
        // The number of seats left changes all the time, so caches must revalidate.
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
            "Returns flights that depart on one calendar day at the origin, can be booked now and have enough seats left, earliest departure first. Public.",
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

/** A parameter's value. An array, which validation rejects, if the parameter is repeated. */
function textOf(query: URLSearchParams, name: string): unknown {
  const values = query.getAll(name);
  return values.length > 1 ? values : values[0];
}

/** A parameter's value as a number, or as is if it is not an integer. Limited to 2⁵³ − 1. */
function numberOf(query: URLSearchParams, name: string): unknown {
  const value = textOf(query, name);
  if (typeof value !== "string" || !/^\d+$/.test(value)) return value;
  return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}
