import { Elysia } from "elysia";

import { maxActorIdLength } from "../../base/context.ts";
import { single, textFilter } from "../../base/parameters.ts";
import { type Authenticated, operations } from "../../web/rest/auth.ts";
import type { AddressOf } from "../../web/rest/client-address.ts";
import { documentedHeaders, linkHeaders, madeHeaders } from "../../web/rest/documented-headers.ts";
import { idempotencyHeaders } from "../../web/rest/idempotency-key.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { serveCreation, servePage } from "../../web/rest/serve.ts";
import { documented } from "../../web/schema.ts";

import { bookingRequestSchema } from "./booking-request.ts";
import { searchText } from "./booking-search.ts";
import { bookingCreated } from "./booking-view.ts";
import {
  bookingCreatedSchema,
  bookingDetailsSchema,
  bookingListQuery,
  bookingPageSchema,
  bookingParams,
  cancellationQuoteSchema,
  cancellationSchema,
} from "./booking.schema.ts";
import type { Bookings } from "./bookings.ts";

const path = "/v1/api/bookings";

const operation = operations("Bookings");

/** Bookings: users see their own, admins see all. */
export const bookingsRest = (
  bookings: Bookings,
  authenticated: Authenticated,
  addressOf: AddressOf,
) =>
  new Elysia({ name: "bookings", prefix: path })
    .post(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return serveCreation(
          exchange,
          addressOf(exchange),
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
        detail: operation(
          "createBooking",
          "Book seats on a flight",
          "Books one seat per passenger, or none at all. Sales end 60 minutes before departure. The error `no-seats` includes the number of seats left.",
        ),
      },
    )
    .get(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return servePage(exchange, "bk_", (page, query) =>
          bookings.list(ctx, page, {
            userId: textFilter(query, "userId", maxActorIdLength),
            q: searchText(single(query, "q")),
          }),
        );
      },
      {
        query: bookingListQuery,
        response: {
          200: documentedHeaders(bookingPageSchema, linkHeaders),
          ...problemResponses(401, 403),
        },
        detail: operation(
          "listBookings",
          "List bookings",
          "Newest first. Users list their own bookings. Admins list all bookings and can search.",
        ),
      },
    )
    .get(
      "/:id",
      async (exchange) => bookings.read(await authenticated(exchange), exchange.params.id),
      {
        params: bookingParams,
        response: { 200: bookingDetailsSchema, ...problemResponses(401, 404) },
        detail: operation(
          "getBooking",
          "Read a booking",
          "For the owner and admins. Other callers get 404. Admins also get the booking's history.",
        ),
      },
    )
    .get(
      "/:id/cancellation",
      async (exchange) => bookings.quote(await authenticated(exchange), exchange.params.id),
      {
        params: bookingParams,
        response: { 200: cancellationQuoteSchema, ...problemResponses(401, 404) },
        detail: operation(
          "quoteCancellation",
          "Quote the refund for a cancellation",
          "Changes nothing.",
        ),
      },
    )
    .delete(
      "/:id",
      async (exchange) => bookings.cancel(await authenticated(exchange), exchange.params.id),
      {
        parse: "none",
        params: bookingParams,
        response: { 200: cancellationSchema, ...problemResponses(401, 404) },
        detail: operation(
          "cancelBooking",
          "Cancel a booking",
          "Releases the seats. A repeated request returns the original response.",
        ),
      },
    );
