import { Elysia } from "elysia";

import { adminsOnly, type Callers, routes } from "../../web/rest/route.ts";
import { refundProgressSchema } from "../payments/payment.schema.ts";
import { refundRequestSchema } from "../payments/recorded-refund.ts";

import { bookingFilters } from "./booking-filters.ts";
import { bookingRequestSchema } from "./booking-request.ts";
import { bookingCreated } from "./booking-view.ts";
import {
  bookingCreatedSchema,
  bookingDetailsSchema,
  bookingPageSchema,
  bookingParams,
  cancellationQuoteSchema,
  cancellationSchema,
} from "./booking.schema.ts";
import type { Bookings } from "./bookings.ts";
import { refusePart } from "./own-booking.ts";

const path = "/v1/api/bookings";

/** Bookings: users see their own, admins see all. */
export const bookingsRest = (bookings: Bookings, callers: Callers) => {
  const { route, list, creation } = routes(callers, "Bookings");
  const { route: adminRoute } = routes(callers, "Bookings", adminsOnly);
  return new Elysia({ name: "bookings", prefix: path })
    .post(
      "",
      ...creation("createBooking", "Book seats on a flight", {
        description:
          "Books one seat per passenger, or none at all. Sales end 60 minutes before departure. The error `no-seats` includes the number of seats left, `price-changed` the current price.",
        body: bookingRequestSchema,
        response: bookingCreatedSchema,
        problems: [404, 409],
        location: ({ bookingId }) => `${path}/${bookingId}`,
        serve: async ({ ctx, body, key }) => {
          const { made, replayed } = await bookings.create(ctx, body, key);
          return { made: bookingCreated(made), replayed };
        },
      }),
    )
    .get(
      "",
      ...list("listBookings", "List bookings", {
        description:
          "Newest first. Users list their own bookings. Admins list all bookings. The filters are for admins.",
        ids: "bk_",
        filters: bookingFilters,
        response: bookingPageSchema,
        problems: [403],
        serve: ({ ctx, page, filters }) => bookings.listInFull(ctx, page, filters),
      }),
    )
    .get(
      "/:id",
      ...route("getBooking", "Read a booking", {
        description:
          "For the owner and admins. Other callers get 404. Admins also get the booking's history.",
        params: bookingParams,
        response: bookingDetailsSchema,
        problems: [404],
        serve: ({ ctx, params }) => bookings.read(ctx, params.id),
      }),
    )
    .get(
      "/:id/cancellation",
      ...route("quoteCancellation", "Quote the refund for a cancellation", {
        description: "Changes nothing.",
        params: bookingParams,
        response: cancellationQuoteSchema,
        problems: [404, 422],
        serve: ({ ctx, params }) => bookings.quote(ctx, params.id),
      }),
    )
    .post(
      "/:id/refund",
      ...adminRoute("recordRefund", "Record a refund", {
        description:
          "Records that a refund was made, so that it is no longer `pending`. Moves no money. The amount is the sum of all refunds of the booking so far: a repeated request changes nothing, and less than what is recorded needs a `reason`.",
        params: bookingParams,
        body: refundRequestSchema,
        response: refundProgressSchema,
        problems: [404],
        serve: ({ ctx, params, body }) => bookings.recordRefund(ctx, params.id, body),
      }),
    )
    .delete(
      "/:id",
      ...route("cancelBooking", "Cancel a booking", {
        description:
          "Releases the seats of all passengers. A repeated request returns the original response.",
        params: bookingParams,
        response: cancellationSchema,
        problems: [404, 422],
        refuses: refusePart,
        serve: ({ ctx, params }) => bookings.cancel(ctx, params.id),
      }),
    );
};
