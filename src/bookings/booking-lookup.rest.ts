import { Elysia } from "elysia";

import { documentedHeaders, linkHeaders } from "../http/documented-headers.ts";
import { type Authenticated, bearer, servePage } from "../http/door.ts";
import { failures } from "../http/problem.schema.ts";
import { invalidParameter, single } from "../http/query.ts";

import { bookingLookupQuery, bookingWithHistorySchema } from "./booking-lookup.schema.ts";
import type { BookingLookup } from "./booking-lookup.ts";
import { bookingPageSchema, bookingParams } from "./booking.schema.ts";

/** Anyone's bookings, for operators. */
export const bookingLookupRest = (lookup: BookingLookup, authenticated: Authenticated) =>
  new Elysia({ name: "booking-lookup", prefix: "/v1/bookings" })
    .get(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return servePage(exchange, "bk_", (page, query) =>
          lookup.find(ctx, page, searchText(query)),
        );
      },
      {
        query: bookingLookupQuery,
        response: {
          200: documentedHeaders(bookingPageSchema, linkHeaders),
          ...failures(400, 401, 403),
        },
        detail: {
          operationId: "findBookings",
          tags: ["Operators"],
          security: bearer,
          summary: "Find bookings",
          description: "Newest first. Needs the role operator or admin.",
        },
      },
    )
    .get(
      "/:id",
      async (exchange) => lookup.read(await authenticated(exchange), exchange.params.id),
      {
        params: bookingParams,
        response: { 200: bookingWithHistorySchema, ...failures(401, 403, 404) },
        detail: {
          operationId: "getBookingHistory",
          tags: ["Operators"],
          security: bearer,
          summary: "Read a booking and all that happened to it",
          description: "Passports are masked. Needs the role operator or admin.",
        },
      },
    );

/** As long as an e-mail address may be. */
const maxSearchLength = 254;

function searchText(query: URLSearchParams): string | undefined {
  const text = single(query, "q")?.trim();
  if (text !== undefined && (text === "" || text.length > maxSearchLength)) {
    throw invalidParameter("q", `1 to ${maxSearchLength} characters`);
  }
  return text;
}
