import { Type } from "@sinclair/typebox";

import { defineTable, type Stored } from "../db/table.ts";
import { prefixedId, word } from "../web/schema.ts";

/** `cancellation`: of some of the passengers. `flight`: to another flight. */
export const changeKinds = ["cancellation", "flight"] as const;

/**
 * `offered`: can be confirmed until it expires. `pending`: confirmed, and waits for its payment until it expires.
 * `confirmed`: made. An open offer, `offered` or `pending`, holds the seats of its new flight.
 */
export const changeStatuses = ["offered", "pending", "confirmed", "expired", "withdrawn"] as const;

/** Offers to change bookings, and the changes made. */
export const bookingChangesTable = defineTable("booking_changes", {
  id: prefixedId("chg_"),
  bookingId: prefixedId("bk_"),
  /** The owner of the booking. */
  userId: "text: pseudonym",
  kind: word(changeKinds),
  status: word(changeStatuses),
  /** The booking's revision from which the offer was made. */
  revision: "integer",
  /** The flight of the booking. */
  flightId: "integer",
  /** Null for a cancellation. */
  newFlightId: "integer or null",
  /** The positions of the passengers who are cancelled or change the flight. */
  passengers: Type.Unsafe<readonly number[]>(Type.Array(Type.Integer())),
  /** Their seats: released by a cancellation, held on the new flight. */
  seats: "integer",
  currency: "text: none",
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
  /** The rule that applies. */
  reason: "text: none",
  createdAt: "instant",
  updatedAt: "instant",
  expiresAt: "instant",
  confirmedAt: "instant or null",
});

export interface BookingChange extends Stored<typeof bookingChangesTable> {}
