import { type Static, Type } from "@sinclair/typebox";

import { defineTable, personal, type Stored } from "../../db/table.ts";
import {
  amount,
  currencySchema,
  instant,
  listOf,
  nullable,
  prefixedId,
  resource,
  signedAmount,
  text,
  word,
} from "../../web/schema.ts";

import { flightSchema, maxPassengers } from "./flight.ts";

export const changeKinds = ["cancellation", "flight"] as const;

/**
 * `offered`: can be confirmed until it expires. `pending`: confirmed, and waits for its payment until it expires.
 * `confirmed`: made. An open offer, `offered` or `pending`, holds the seats of its new flight.
 */
export const changeStatuses = ["offered", "pending", "confirmed", "expired", "withdrawn"] as const;

export const positionSchema = Type.Integer({
  minimum: 1,
  maximum: maxPassengers,
  description: "A passenger's position in the booking, from 1.",
  errorMessage: `A position from 1 to ${maxPassengers}`,
  examples: [1],
});

/** What is shown of an offer or a change as it is stored. */
export const changeFields = {
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
  passengers: listOf(positionSchema, "The passengers who are cancelled, or who change the flight."),
  currency: personal("none", currencySchema),
  reason: personal("none", text("The rule that applies.", "More than 72 h before departure")),
  createdAt: instant("When it was offered."),
  expiresAt: instant("When the offer ends, if it is still open."),
  confirmedAt: nullable(instant(), "When the change was made; null until then."),
};

/** Offers to change bookings, and the changes made. */
export const bookingChangesTable = defineTable("booking_changes", {
  ...changeFields,
  /** The owner of the booking. */
  userId: "text: pseudonym",
  /** The booking's revision from which the offer was made. */
  revision: "integer",
  /** The flight of the booking. */
  flightId: "integer",
  /** Null for a cancellation. */
  newFlightId: "integer or null",
  /** The seats of the passengers: released by a cancellation, held on the new flight. */
  seats: "integer",
  /** The booking's price before and after, in minor units of the currency. */
  previousTotalMinor: "bigint",
  newTotalMinor: "bigint",
  /** What is kept of the previous price, in minor units. */
  penaltyMinor: "bigint",
  /** What is to be paid, or refunded if negative: the new price, less the previous one, and the penalty. */
  changeTotalMinor: "bigint",
  /** What the change makes non-refundable, in minor units. Negative if the airline's change makes some of it refundable. */
  keptMinor: "bigint",
  /** The percentage of the previous price that is credited. */
  percent: "integer",
  updatedAt: "instant",
});

export interface BookingChange extends Stored<typeof bookingChangesTable> {}

export const bookingChangeSchema = resource(
  "BookingChange",
  "An offer to change a booking, or a change that was made.",
  {
    ...changeFields,
    flight: flightSchema,
    newFlight: nullable(flightSchema, "Null for a cancellation."),
    previousTotal: amount("The price of the booking before, in major units.", 999),
    newTotal: amount("The price of the booking after, in major units.", 1_099),
    penalty: amount("What is kept of the previous price, in major units.", 49.95),
    changeTotal: signedAmount(
      "What is to be paid, or refunded if negative: `newTotal` − `previousTotal` + `penalty`. 0 for a hold, of which nothing was paid.",
      149.95,
    ),
  },
);

export interface BookingChangeView extends Static<typeof bookingChangeSchema> {}
