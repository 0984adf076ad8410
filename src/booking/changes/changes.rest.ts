import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";

import { type Callers, routes } from "../../web/rest/route.ts";
import { documented, text } from "../../web/schema.ts";
import { passengerCorrectionSchema } from "../bookings/booking-request.ts";
import { bookingParams, passengerSchema } from "../bookings/booking.schema.ts";
import { refusePart } from "../bookings/own-booking.ts";
import { bookingChangeSchema, type BookingChangeView } from "../model/booking-change.ts";

import { changeParams, changeRequestSchema, partRequestSchema } from "./change.schema.ts";
import type { Changes } from "./changes.ts";
import type { Corrections } from "./corrections.ts";

const passengerParams = documented(
  Type.Object({
    id: text("The booking's id.", "bk_019377b07d4070008000000000000001"),
    position: text("The passenger's position in the booking, from 1.", "1"),
  }),
);

/** Changes of bookings: users change their own, admins all. */
export const changesRest = (changes: Changes, corrections: Corrections, callers: Callers) => {
  const { route } = routes(callers, "Bookings");
  const path = "/:id/changes/:changeId";
  const prefix = "/v1/api/bookings";
  const location = ({ bookingId, id }: BookingChangeView) => `${prefix}/${bookingId}/changes/${id}`;
  return new Elysia({ name: "changes", prefix })
    .post(
      "/:id/cancellation",
      ...route("offerCancellation", "Offer to cancel some passengers", {
        description:
          "Quotes the refund for cancelling some of the passengers. Confirm the offer before `expiresAt`. It replaces an open offer of the booking.",
        params: bookingParams,
        body: partRequestSchema,
        response: bookingChangeSchema,
        success: 201,
        location,
        problems: [404, 409],
        serve: ({ ctx, params, body }) => changes.offerCancellation(ctx, params.id, body),
      }),
    )
    .post(
      "/:id/changes",
      ...route("offerChange", "Offer a change to another flight", {
        description:
          "For all passengers who fly. Holds the seats of the other flight until `expiresAt`, and says what the change costs. Confirm the offer before then. It replaces an open offer of the booking.",
        params: bookingParams,
        body: changeRequestSchema,
        response: bookingChangeSchema,
        success: 201,
        location,
        problems: [404, 409],
        serve: ({ ctx, params, body }) => changes.offerFlight(ctx, params.id, body),
      }),
    )
    .get(
      path,
      ...route("getChange", "Read a change of a booking", {
        params: changeParams,
        response: bookingChangeSchema,
        problems: [404],
        serve: ({ ctx, params }) => changes.read(ctx, params.id, params.changeId),
      }),
    )
    .post(
      `${path}/confirm`,
      ...route("confirmChange", "Confirm an offer", {
        description:
          "Makes the change, unless something is to be paid: then it is `pending` until the payment's event arrives. A repeated request returns the change.",
        params: changeParams,
        response: bookingChangeSchema,
        problems: [404, 409, 422],
        refuses: refusePart,
        serve: ({ ctx, params }) => changes.confirm(ctx, params.id, params.changeId),
      }),
    )
    .delete(
      path,
      ...route("withdrawChange", "Withdraw an offer", {
        description: "Ends an offer, also one that waits for its payment, and releases its seats.",
        params: changeParams,
        response: bookingChangeSchema,
        problems: [404, 409],
        serve: ({ ctx, params }) => changes.withdraw(ctx, params.id, params.changeId),
      }),
    )
    .patch(
      "/:id/passengers/:position",
      ...route("correctPassenger", "Correct a passenger", {
        description:
          "Corrects a name, an e-mail address, a birth date or a passport number, up to five times. Recorded in the audit log, without the values.",
        params: passengerParams,
        body: passengerCorrectionSchema,
        response: passengerSchema,
        problems: [404],
        serve: ({ ctx, params, body }) =>
          corrections.correct(ctx, params.id, params.position, body),
      }),
    );
};
