import { Elysia } from "elysia";

import { withETag } from "../http/etag.ts";
import { invalidParameter } from "../http/query.ts";

import type { RawFlightSearch } from "./flight-search.ts";
import type { Flights } from "./flights.ts";

/** Public: looking for flights needs no token. */
export const flightsRest = (flights: Flights) =>
  new Elysia({ name: "flights", prefix: "/v1/api/flights" })
    .get("", ({ request, set }) => {
      // Seats sell by the second: an answer kept would mislead.
      set.headers["cache-control"] = "no-cache";
      return flights.search(rawSearch(new URL(request.url).searchParams));
    })
    .get("/:id", async ({ params, request }) => {
      if (!/^\d{1,15}$/.test(params.id)) throw invalidParameter("id", "A whole number");
      return withETag(request, await flights.read(Number(params.id)));
    });

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

function numberOf(query: URLSearchParams, name: string): unknown {
  const value = textOf(query, name);
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
}
