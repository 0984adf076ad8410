import { defineTable, type Stored } from "../db/table.ts";
import { prefixedId, word } from "../web/schema.ts";

/** `expired`: an offer was not taken in time, or the time to wait ended. `left`: by its user or an admin. */
export const waitlistStatuses = ["waiting", "offered", "booked", "expired", "left"] as const;

/** The waiting lists of flights: entries, each of one user for seats on one flight. An offer holds its seats. */
export const waitlistTable = defineTable("waitlist_entries", {
  id: prefixedId("wl_"),
  userId: "text",
  flightId: "integer",
  /** The order of the line: after all that wait for the flight. Times would follow a clock that is set back. */
  place: "integer",
  seats: "integer",
  status: word(waitlistStatuses),
  /** When it stops waiting for an offer; at the latest when sales end. */
  until: "instant",
  createdAt: "instant",
  updatedAt: "instant",
  /** Null if it never had an offer. */
  offeredAt: "instant or null",
  offerExpiresAt: "instant or null",
});

export interface WaitlistEntry extends Stored<typeof waitlistTable> {}
