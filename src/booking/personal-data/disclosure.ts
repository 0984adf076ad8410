import { defineTable } from "../../db/table.ts";
import type { Booking } from "../booking.ts";

/** A record that someone read the personal data of a booking. */
export interface Disclosure {
  readonly id: `dis_${string}`;
  readonly bookingId: Booking["id"];
  /** Who read it. On the command line, the operating system's user. */
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
