import type { Money } from "../base/money.ts";
import { defineTable } from "../db/table.ts";

export const cabinClasses = ["economy", "business", "first"] as const;
export type CabinClass = (typeof cabinClasses)[number];

/** Seats that one booking may take. */
export const maxPassengers = 9;

/** What there is to know of a flight before it is in the database. */
export interface FlightPlan {
  /** Airline code and number, as `BA117`. */
  readonly flightNumber: string;
  readonly airline: string;
  /** IATA code of the airport. */
  readonly origin: string;
  /** IATA code of the airport. */
  readonly destination: string;
  readonly departureTime: Date;
  readonly arrivalTime: Date;
  readonly cabinClass: CabinClass;
  /** Seats there are to sell, sold ones included. */
  readonly seats: number;
  /** Price of one seat in minor units of its currency: cents, yen, fils. */
  readonly priceMinor: number;
  /** ISO 4217 code. */
  readonly currency: string;
}

/** One bookable cabin of one departure. */
export interface Flight extends FlightPlan {
  /** A positive whole number. */
  readonly id: number;
  readonly seatsAvailable: number;
  readonly createdAt: Date;
}

export const flightsTable = defineTable<Flight>("flights", {
  id: "integer",
  flightNumber: "text",
  airline: "text",
  origin: "text",
  destination: "text",
  departureTime: "instant",
  arrivalTime: "instant",
  cabinClass: "text",
  seats: "integer",
  seatsAvailable: "integer",
  priceMinor: "bigint",
  currency: "text",
  createdAt: "instant",
});

/** A flight as the world sees it: the specification's fields, and some more. */
export interface FlightView extends Pick<
  Flight,
  | "id"
  | "flightNumber"
  | "airline"
  | "origin"
  | "destination"
  | "departureTime"
  | "arrivalTime"
  | "seatsAvailable"
  | "cabinClass"
  | "createdAt"
> {
  /** Hours and minutes, as `7h 05m`. */
  readonly duration: string;
  readonly durationMinutes: number;
  readonly price: Money;
  /** Wall clock at the origin with its offset, as `2026-12-01T18:25:00-05:00`. */
  readonly departureLocal: string;
  /** Wall clock at the destination with its offset. */
  readonly arrivalLocal: string;
}

/** A flight sells until this long before its departure. */
const closesBeforeMs = 60 * 60_000;

/** Flights that leave later than this can be booked now. */
export function closesAfter(now: Date): Date {
  return new Date(now.getTime() + closesBeforeMs);
}

/** Whether a flight has left. */
export function departed({ departureTime }: Pick<Flight, "departureTime">, now: Date): boolean {
  return departureTime <= now;
}
