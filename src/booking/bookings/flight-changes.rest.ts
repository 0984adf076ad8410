import { Elysia } from "elysia";

import { type Callers, operatorsOnly, routes } from "../../web/rest/route.ts";

import { bookingParams } from "./booking.schema.ts";
import {
  bookingFlightChangeSchema,
  flightChangeAnswerSchema,
  flightChangePageSchema,
} from "./flight-change.schema.ts";
import type { FlightChanges } from "./flight-changes.ts";

/** Answers of owners to changes of their flights, and who has not answered, for operators. */
export const flightChangesRest = (changes: FlightChanges, callers: Callers) => {
  const { route } = routes(callers, "Bookings");
  const { list } = routes(callers, "Operators", operatorsOnly);
  return new Elysia({ name: "flight-changes" })
    .get(
      "/v1/flight-changes",
      ...list("listFlightChanges", "List changes of flights with bookings", {
        description:
          "What imports changed of flights that have bookings, newest first, and how many owners have answered.",
        ids: "fch_",
        response: flightChangePageSchema,
        serve: ({ ctx, page }) => changes.list(ctx, page),
      }),
    )
    .post(
      "/v1/api/bookings/:id/flight-change",
      ...route("answerFlightChange", "Accept a change of a booking's flight", {
        description:
          "The airline has moved the flight. Accept it, cancel the booking for a full refund, or change it free of charge. A repeated request returns the same response. `booking-closed`: the flight was cancelled or has departed, or the booking has ended.",
        params: bookingParams,
        body: flightChangeAnswerSchema,
        response: bookingFlightChangeSchema,
        problems: [404],
        serve: ({ ctx, params, body }) => changes.answer(ctx, params.id, body),
      }),
    );
};
