import { type Static, Type } from "@sinclair/typebox";

import {
  amount,
  currencySchema,
  documented,
  instant,
  listOf,
  nullable,
  prefixedId,
  resource,
  signedAmount,
  text,
  word,
} from "../../web/schema.ts";
import { changeKinds, changeStatuses } from "../booking-change.ts";
import { flightIdSchema, flightSchema, maxPassengers } from "../flight.ts";

const position = Type.Integer({
  minimum: 1,
  maximum: maxPassengers,
  description: "A passenger's position in the booking, from 1.",
  errorMessage: `A position from 1 to ${maxPassengers}`,
  examples: [1],
});

export const bookingChangeSchema = resource(
  "BookingChange",
  "An offer to change a booking, or a change that was made.",
  {
    id: prefixedId("chg_", "The change's id."),
    bookingId: prefixedId("bk_", "The booking's id."),
    kind: word(
      changeKinds,
      "`cancellation`: of some of the passengers. `flight`: to another flight.",
    ),
    status: word(
      changeStatuses,
      "`offered`: can be confirmed until `expiresAt`. `pending`: confirmed, and waits until `expiresAt` for its payment. `confirmed`: made.",
    ),
    passengers: listOf(position, "The passengers who are cancelled, or who change the flight."),
    flight: flightSchema,
    newFlight: nullable(flightSchema, "Null for a cancellation."),
    previousTotal: amount("The price of the booking before, in major units.", 999),
    newTotal: amount("The price of the booking after, in major units.", 1_099),
    penalty: amount("What is kept of the previous price, in major units.", 49.95),
    changeTotal: signedAmount(
      "What is to be paid, or refunded if negative: `newTotal` − `previousTotal` + `penalty`. 0 for a hold, of which nothing was paid.",
      149.95,
    ),
    currency: currencySchema,
    reason: text("The rule that applies.", "More than 72 h before departure"),
    createdAt: instant("When it was offered."),
    expiresAt: instant("When the offer ends, if it is still open."),
    confirmedAt: nullable(instant(), "When the change was made; null until then."),
  },
);

export interface BookingChangeView extends Static<typeof bookingChangeSchema> {}

/** The body of POST /v1/api/bookings/{id}/cancellation. */
export const partRequestSchema = Type.Object(
  {
    passengers: Type.Array(position, {
      minItems: 1,
      maxItems: maxPassengers,
      uniqueItems: true,
      errorMessage: `1 to ${maxPassengers} different positions`,
      description: "The positions of the passengers to cancel.",
    }),
  },
  { $id: "PartRequest", description: "Passengers to cancel." },
);

/** The body of POST /v1/api/bookings/{id}/changes. */
export const changeRequestSchema = Type.Object(
  { flightId: flightIdSchema },
  { $id: "ChangeRequest", description: "The flight to change to.", examples: [{ flightId: 2 }] },
);

export const changeParams = documented(
  Type.Object({
    id: text("The booking's id.", "bk_019377b07d4070008000000000000001"),
    changeId: text("The change's id.", "chg_019377b07d4070008000000000000001"),
  }),
);
