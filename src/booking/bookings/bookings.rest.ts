import { Elysia } from "elysia";

import { documentedHeaders, linkHeaders, madeHeaders } from "../../web/rest/documented-headers.ts";
import { type Authenticated, bearer } from "../../web/rest/auth.ts";
import { serveCreation, servePage } from "../../web/rest/serve.ts";
import { idempotencyHeaders } from "../../web/rest/idempotency-key.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { invalidParameter, single, textFilter } from "../../web/rest/query.ts";
import { documented } from "../../web/rest/schema.ts";

import { bookingRequestSchema } from "./booking-request.ts";
import {
  bookingCreatedSchema,
  bookingDetailsSchema,
  bookingListQuery,
  bookingPageSchema,
  bookingParams,
  cancellationQuoteSchema,
  cancellationSchema,
} from "./booking.schema.ts";
import { bookingCreated } from "./booking-view.ts";
import type { Bookings } from "./bookings.ts";

const path = "/v1/api/bookings";

/** Seats, sold and given back. Everyone sees their own; admins see all. */
export const bookingsRest = (bookings: Bookings, authenticated: Authenticated) =>
  new Elysia({ name: "bookings", prefix: path })
    .post(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return serveCreation(
          exchange,
          async (body, key) => {
            const { made, replayed } = await bookings.create(ctx, body, key);
            return { made: bookingCreated(made), replayed };
          },
          (booking) => `${path}/${booking.bookingId}`,
        );
      },
      {
        parse: "none",
        body: documented(bookingRequestSchema),
        headers: idempotencyHeaders,
        response: {
          201: documentedHeaders(bookingCreatedSchema, madeHeaders),
          ...problemResponses(401, 404, 409, 413, 415, 422),
        },
        detail: {
          operationId: "createBooking",
          tags: ["Bookings"],
          security: bearer,
          summary: "Book seats on a flight",
          description:
            "One seat a passenger, all or none. Closes 60 minutes before departure. `no-seats` says how many are left.",
        },
      },
    )
    .get(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return servePage(exchange, "bk_", (page, query) =>
          bookings.list(ctx, page, { userId: textFilter(query, "userId"), q: searchText(query) }),
        );
      },
      {
        query: bookingListQuery,
        response: {
          200: documentedHeaders(bookingPageSchema, linkHeaders),
          ...problemResponses(401, 403),
        },
        detail: {
          operationId: "listBookings",
          tags: ["Bookings"],
          security: bearer,
          summary: "List bookings",
          description:
            "Newest first. Admins list everyone's and can search; all others list their own.",
        },
      },
    )
    .get(
      "/:id",
      async (exchange) => bookings.read(await authenticated(exchange), exchange.params.id),
      {
        params: bookingParams,
        response: { 200: bookingDetailsSchema, ...problemResponses(401, 404) },
        detail: {
          operationId: "getBooking",
          tags: ["Bookings"],
          security: bearer,
          summary: "Read a booking",
          description:
            "For its owner and admins; for all others it is not there. Admins also get its history.",
        },
      },
    )
    .get(
      "/:id/cancellation",
      async (exchange) => bookings.quote(await authenticated(exchange), exchange.params.id),
      {
        params: bookingParams,
        response: { 200: cancellationQuoteSchema, ...problemResponses(401, 404) },
        detail: {
          operationId: "quoteCancellation",
          tags: ["Bookings"],
          security: bearer,
          summary: "Ask what a cancellation would pay back",
          description: "Changes nothing.",
        },
      },
    )
    .delete(
      "/:id",
      async (exchange) => bookings.cancel(await authenticated(exchange), exchange.params.id),
      {
        parse: "none",
        params: bookingParams,
        response: { 200: cancellationSchema, ...problemResponses(401, 404) },
        detail: {
          operationId: "cancelBooking",
          tags: ["Bookings"],
          security: bearer,
          summary: "Cancel a booking",
          description: "Gives the seats back. Asked again, it answers the same.",
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
