import { AppError } from "../../base/errors.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { FlightPlan } from "../flight.ts";

import { upsertFlight } from "./flights.sql.ts";

/** A flight to import, and its line in the file. */
interface FlightLine {
  readonly line: number;
  readonly plan: FlightPlan;
}

/** A line that was not imported. */
interface SkippedLine {
  readonly line: number;
  readonly error: string;
}

/**
 * Adds flights. Updates flights with the same flight number, departure and cabin, and keeps their seats
 * already sold. Imports all flights or none: one transaction, which holds the database's write lock for about
 * 10 µs per flight. Throws `validation-failed`, which names the line, if a flight has fewer seats than are
 * already sold. With `skipBad`, returns these lines instead and imports the others.
 */
export async function importFlights(
  storage: Storage,
  flights: readonly FlightLine[],
  now: Date,
  { skipBad = false }: { readonly skipBad?: boolean } = {},
): Promise<readonly SkippedLine[]> {
  const writes = flights.map(({ line, plan }) =>
    write(
      upsertFlight,
      { ...plan, createdAt: now },
      skipBad ? undefined : new AppError("validation-failed", `line ${line}: ${tooFewSeats(plan)}`),
    ),
  );
  const results = await storage.atomically(...writes);
  return flights
    .filter((_, index) => results[index]?.changes === 0)
    .map(({ line, plan }) => ({ line, error: tooFewSeats(plan) }));
}

function tooFewSeats({ flightNumber, departureTime, cabinClass, seats }: FlightPlan): string {
  const flight = `${flightNumber} of ${departureTime.toISOString()}, ${cabinClass}`;
  return `${flight}: more than ${seats} seats are already sold`;
}
