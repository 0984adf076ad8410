import { defineTable, type Stored } from "../db/table.ts";
import { prefixedId, word } from "../web/schema.ts";

import { flightChangeStatuses } from "./booking-words.ts";

/** Also the types of the events about them. */
export const flightChangeTypes = ["flight.changed", "flight.cancelled"] as const;

/** What an import changed of a flight. */
export const flightChangesTable = defineTable("flight_changes", {
  id: prefixedId("fch_"),
  flightId: "integer",
  type: word(flightChangeTypes),
  previousDepartureTime: "instant",
  previousArrivalTime: "instant",
  previousOrigin: "text: none",
  previousDestination: "text: none",
  /** Of a cancelled flight, the new times and airports are the previous ones. */
  departureTime: "instant",
  arrivalTime: "instant",
  origin: "text: none",
  destination: "text: none",
  /** False for a small move, which owners need not answer. */
  asksOwners: "boolean",
  createdAt: "instant",
});

export interface FlightChange extends Stored<typeof flightChangesTable> {}

export type FlightChangeStatus = (typeof flightChangeStatuses)[number];

/** A booking that had seats on a flight when it changed. */
export const flightChangeNoticesTable = defineTable("flight_change_notices", {
  changeId: prefixedId("fch_"),
  bookingId: prefixedId("bk_"),
  status: word(flightChangeStatuses),
  createdAt: "instant",
  /** When its event was stored; null until then. */
  notifiedAt: "instant or null",
  answeredAt: "instant or null",
  /** Who answered: the id of the owner or of an admin. */
  answeredBy: "text or null: pseudonym",
});

export interface FlightChangeNotice extends Stored<typeof flightChangeNoticesTable> {}
