import type { Money } from "../base/money.ts";
import { defineTable } from "../db/table.ts";

export const cabinClasses = ["economy", "business", "first"] as const;
export type CabinClass = (typeof cabinClasses)[number];

/** The most seats in one booking. */
export const maxPassengers = 9;

/** A flight that is not stored yet. */
export interface FlightPlan {
  /** Airline code and number, such as `BA117`. */
  readonly flightNumber: string;
  readonly airline: string;
  /** IATA code of the airport. */
  readonly origin: string;
  /** IATA code of the airport. */
  readonly destination: string;
  readonly departureTime: Date;
  readonly arrivalTime: Date;
  readonly cabinClass: CabinClass;
  /** All seats for sale, including those already sold. */
  readonly seats: number;
  /** Price of one seat in minor units of its currency: cents, yen, fils. */
  readonly priceMinor: number;
  /** ISO 4217 code. */
  readonly currency: string;
}

/** One cabin of one departure, which can be booked. */
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

/** A flight as the API shows it: the specified fields and additional ones. */
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
  /** Hours and minutes, such as `7h 05m`. */
  readonly duration: string;
  readonly durationMinutes: number;
  readonly price: Money;
  /** Local time at the origin with its UTC offset, such as `2026-12-01T18:25:00-05:00`. */
  readonly departureLocal: string;
  /** Local time at the destination with its UTC offset. */
  readonly arrivalLocal: string;
}

/** Sales of a flight end this long before its departure. */
const closesBeforeMs = 60 * 60_000;

/** Flights that depart after the returned time can be booked now. */
export function closesAfter(now: Date): Date {
  return new Date(now.getTime() + closesBeforeMs);
}

/** When sales of a flight end. */
export function closesAt(departureTime: Date): Date {
  return new Date(departureTime.getTime() - closesBeforeMs);
}

export function departed({ departureTime }: Pick<Flight, "departureTime">, now: Date): boolean {
  return departureTime <= now;
}
