import { defineTable, type Stored } from "../../db/table.ts";
import { prefixedId, word } from "../../web/schema.ts";

/** `booking`: until it is paid. `change`: while an offer to change a booking is open. */
export const holdPurposes = ["booking", "change"] as const;
export type HoldPurpose = (typeof holdPurposes)[number];

/** Seats that are held, and when what holds them ends. A booking has one hold of each purpose at most. */
export const seatHoldsTable = defineTable(
  "seat_holds",
  {
    bookingId: prefixedId("bk_"),
    purpose: word(holdPurposes),
    flightId: "integer",
    /** 0 for an offer to cancel passengers, which holds no seats but expires too. */
    seats: "integer",
    userId: "text: pseudonym",
    expiresAt: "instant",
  },
  ["bookingId", "purpose"],
);

export interface SeatHold extends Stored<typeof seatHoldsTable> {}
