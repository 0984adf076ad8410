import { endOutdatedOffers } from "../../src/booking/changes/ended-offers.ts";
import { importFlights } from "../../src/booking/flights/import/import-flights.ts";
import type { Flight, FlightPlan } from "../../src/booking/model/flight.ts";

import type { TestApp } from "./app.ts";

/** What an import changes of a flight. */
export type FlightImport = Partial<FlightPlan> | "cancelled";

/** Imports a change of a flight, as a file of the airline would, and returns the flight as planned now. */
export async function changeFlight(
  app: TestApp,
  flight: Flight,
  change: FlightImport,
): Promise<Flight> {
  const isCancelled = change === "cancelled";
  const plan = isCancelled ? flight : { ...flight, ...change };
  const isMoved = plan.departureTime.getTime() !== flight.departureTime.getTime();
  const line = {
    line: 2,
    plan,
    ...(isMoved && { previousDepartureTime: flight.departureTime }),
    ...(isCancelled && { isCancelled }),
  };
  const now = new Date(app.clock.now());
  await importFlights(
    { storage: app.services.storage, endOutdated: endOutdatedOffers },
    [line],
    now,
  );
  return { ...flight, ...plan };
}

const hourMs = 3_600_000;

/** The times of a flight, so many hours later. */
export const later = ({ departureTime, arrivalTime }: Flight, hours: number) => ({
  departureTime: new Date(departureTime.getTime() + hours * hourMs),
  arrivalTime: new Date(arrivalTime.getTime() + hours * hourMs),
});
