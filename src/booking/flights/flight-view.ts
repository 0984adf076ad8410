import { moneyOf } from "../../base/money.ts";
import { type Flight, type FlightView, seatsLeft } from "../model/flight.ts";

import { airport, localTime } from "./airports.ts";

/** Renders a flight for the API. */
export function flightView(flight: Flight): FlightView {
  const { id, flightNumber, airline, origin, destination, departureTime, arrivalTime } = flight;
  const durationMinutes = Math.round((arrivalTime.getTime() - departureTime.getTime()) / 60_000);
  return {
    id,
    flightNumber,
    airline,
    origin,
    destination,
    departureTime,
    arrivalTime,
    duration: durationText(durationMinutes),
    durationMinutes,
    departureLocal: timeAt(origin, departureTime),
    arrivalLocal: timeAt(destination, arrivalTime),
    cabinClass: flight.cabinClass,
    price: moneyOf(flight.priceMinor, flight.currency),
    seatsAvailable: seatsLeft(flight),
    createdAt: flight.createdAt,
    ...(flight.cancelledAt !== null && { cancelledAt: flight.cancelledAt }),
  };
}

/** Formats minutes as `7h 05m`. */
function durationText(minutes: number): string {
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, "0")}m`;
}

/** The local time at an airport. Falls back to UTC for an airport that a newer table no longer has. */
export function timeAt(code: string, date: Date): string {
  const place = airport(code);
  return place ? localTime(place, date) : date.toISOString().replace(/\.\d+Z$/, "+00:00");
}
