import { AppError } from "../../base/errors.ts";
import { upsertFlight } from "./flights.sql.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import type { FlightPlan } from "../flight.ts";

/**
 * Adds flights. Updates flights with the same flight number, departure and cabin, and keeps their seats
 * already sold. Imports all flights or none: one transaction, which holds the database's write lock for about
 * 10 µs per flight. Throws `validation-failed`, which names the flight, if a flight has fewer seats than are
 * already sold.
 */
export async function importFlights(
  storage: Storage,
  plans: Iterable<FlightPlan>,
  now: Date,
): Promise<number> {
  const writes = Array.from(plans, (plan) =>
    write(upsertFlight, { ...plan, createdAt: now }, tooFewSeats(plan)),
  );
  await storage.atomically(...writes);
  return writes.length;
}

function tooFewSeats({ flightNumber, departureTime, cabinClass, seats }: FlightPlan): AppError {
  const flight = `${flightNumber} of ${departureTime.toISOString()}, ${cabinClass}`;
  return new AppError("validation-failed", `${flight}: more than ${seats} seats are already sold`);
}
