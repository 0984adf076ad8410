import { type Static, Type } from "@sinclair/typebox";

import { defineTable, personal, type Stored } from "../../db/table.ts";
import {
  count,
  instant,
  moneySchema,
  nullable,
  prefixedId,
  resource,
  text,
  word,
} from "../../web/schema.ts";

export const cabinClasses = ["economy", "business", "first"] as const;
export type CabinClass = (typeof cabinClasses)[number];

/** The most seats in one booking. */
export const maxPassengers = 9;

export const airportSchema = (description: string, example: string) =>
  Type.String({ pattern: "^[A-Za-z]{3}$", description, examples: [example] });

export const flightIdSchema = Type.Integer({
  minimum: 1,
  description: "The flight's id.",
  examples: [1],
});

export const flightSchema = resource("Flight", "One cabin of one departure, which can be booked.", {
  id: flightIdSchema,
  flightNumber: personal("none", text("Airline code and number.", "BA178")),
  airline: personal("none", text("Name of the airline.", "British Airways")),
  origin: airportSchema("IATA code of the origin airport.", "JFK"),
  destination: airportSchema("IATA code of the destination airport.", "LHR"),
  departureTime: instant("In UTC."),
  arrivalTime: instant({ description: "In UTC.", examples: ["2026-12-02T06:25:00.000Z"] }),
  duration: text("Hours and minutes.", "7h 00m"),
  durationMinutes: count("Minutes from departure to arrival.", 420),
  departureLocal: text(
    "Local time at the origin, with its UTC offset.",
    "2026-12-01T18:25:00-05:00",
  ),
  arrivalLocal: text(
    "Local time at the destination, with its UTC offset.",
    "2026-12-02T06:25:00+00:00",
  ),
  cabinClass: word(cabinClasses, "The cabin."),
  price: moneySchema,
  seatsAvailable: count("Seats left in this cabin.", 42),
  createdAt: instant("When the flight was put on sale."),
  cancelledAt: Type.Optional(instant("When the airline cancelled the flight. Only if cancelled.")),
});

/** A flight as the API shows it: the specified fields and additional ones. */
export interface FlightView extends Static<typeof flightSchema> {}

const flightChangeTypes = ["flight.changed", "flight.cancelled"] as const;

export const flightChangeSchema = resource(
  "FlightChange",
  "The last change of the flight by the airline after it was booked, and what the flight was before. Until departure, the booking can be cancelled with a full refund or changed free of charge.",
  {
    type: word(flightChangeTypes, "`flight.changed`: other times or airports."),
    changedAt: instant("When it was imported."),
    previousDepartureTime: instant("The old departure, in UTC."),
    previousArrivalTime: instant("The old arrival, in UTC."),
    previousOrigin: text("The old origin.", "JFK"),
    previousDestination: text("The old destination.", "LHR"),
  },
);

export interface FlightChange extends Static<typeof flightChangeSchema> {}

/** Its times are texts, as in JSON. */
type StoredChange = {
  readonly [Field in keyof FlightChange]: FlightChange[Field] extends Date
    ? string
    : FlightChange[Field];
};

const shown = flightSchema.properties;

export const flightsTable = defineTable("flights", {
  id: shown.id,
  flightNumber: shown.flightNumber,
  airline: shown.airline,
  origin: shown.origin,
  destination: shown.destination,
  departureTime: shown.departureTime,
  arrivalTime: shown.arrivalTime,
  cabinClass: shown.cabinClass,
  seatsAvailable: shown.seatsAvailable,
  createdAt: shown.createdAt,
  /** All seats for sale, including those already sold. */
  seats: "integer",
  /** The most seats sold beyond `seats` that an import has accepted: `seatsAvailable` can be so far below zero. */
  oversold: "integer",
  /** Price of one seat in minor units of its currency: cents, yen, fils. */
  priceMinor: "bigint",
  /** ISO 4217 code. */
  currency: "text: none",
  /** When an import removed it from sale; null while it is scheduled. */
  cancelledAt: "instant or null",
  /** How often imports have moved or cancelled it. What is decided from its times requires the number that was read. */
  revision: "integer",
  lastChange: personal("none", nullable(Type.Unsafe<StoredChange>({ type: "object" }))),
});

/** One cabin of one departure, as stored. */
export interface Flight extends Stored<typeof flightsTable> {}

/** A flight that is not stored yet. */
export interface FlightPlan extends Omit<
  Flight,
  "id" | "seatsAvailable" | "oversold" | "createdAt" | "cancelledAt" | "revision" | "lastChange"
> {}

/** Events about changes of flights whose notifications a server has to store: imports run beside it. */
export const flightEventsTable = defineTable("flight_events", { eventId: prefixedId("evt_") }, [
  "eventId",
]);

/** Sales of a flight end this long before its departure. */
export const closesBeforeMs = 60 * 60_000;

/** Flights that depart after the returned time can be booked now. */
export function closesAfter(now: Date): Date {
  return new Date(now.getTime() + closesBeforeMs);
}

/** When sales of a flight end. */
export function closesAt(departureTime: Date): Date {
  return new Date(departureTime.getTime() - closesBeforeMs);
}

/** Seats that can still be sold: none of an oversold flight. */
export function seatsLeft({ seatsAvailable }: Pick<Flight, "seatsAvailable">): number {
  return Math.max(0, seatsAvailable);
}

/** Whether seats of the flight can be sold now. */
export function isOnSale(
  { departureTime, cancelledAt }: Pick<Flight, "departureTime" | "cancelledAt">,
  now: Date,
): boolean {
  return departureTime > closesAfter(now) && cancelledAt === null;
}

/** Never of a cancelled flight. */
export function hasDeparted(
  { departureTime, cancelledAt }: Pick<Flight, "departureTime" | "cancelledAt">,
  now: Date,
): boolean {
  return departureTime <= now && cancelledAt === null;
}

/** `2 seats`. */
export function seatsText(seats: number): string {
  return seats === 1 ? "1 seat" : `${seats} seats`;
}

/** `2 seats on N4103 JFK → LHR, 2026-12-08`, with the day of departure in UTC. */
export function seatsOnFlight(seats: number, flight: Flight): string {
  const { flightNumber, origin, destination, departureTime } = flight;
  const day = departureTime.toISOString().slice(0, 10);
  return `${seatsText(seats)} on ${flightNumber} ${origin} → ${destination}, ${day}`;
}
