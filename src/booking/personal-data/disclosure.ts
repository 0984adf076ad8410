import type { Booking } from "../booking.ts";
import { defineTable } from "../../db/table.ts";

/** A record that somebody was shown the personal data of a booking. */
export interface Disclosure {
  readonly id: `dis_${string}`;
  readonly bookingId: Booking["id"];
  /** Who: the operating system's user, for the command line. */
  readonly actor: string;
  readonly reason: string;
  readonly createdAt: Date;
}

export const disclosuresTable = defineTable<Disclosure>("disclosures", {
  id: "text",
  bookingId: "text",
  actor: "text",
  reason: "text",
  createdAt: "instant",
});
