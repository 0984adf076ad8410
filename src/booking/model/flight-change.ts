import { type Flight, type FlightPlan, hasDeparted } from "./flight.ts";

/** Seats that are sold or held. */
export function soldOf({ seats, seatsAvailable }: Pick<Flight, "seats" | "seatsAvailable">) {
  return seats - seatsAvailable;
}

/** Seats sold beyond those that the flight has. */
export function oversoldBy({ seatsAvailable }: Pick<Flight, "seatsAvailable">): number {
  return Math.max(0, -seatsAvailable);
}

/** The flight after the import of a plan: revised if its times or airports change before it departs. */
export function updatedFlight(flight: Flight, plan: FlightPlan, now: Date): Flight {
  const { id, createdAt, cancelledAt, revision, lastChange } = flight;
  const isSame =
    plan.departureTime.getTime() === flight.departureTime.getTime() &&
    plan.arrivalTime.getTime() === flight.arrivalTime.getTime() &&
    plan.origin === flight.origin &&
    plan.destination === flight.destination;
  const isRevised = !isSame && cancelledAt === null && !hasDeparted(flight, now);
  const seatsAvailable = plan.seats - soldOf(flight);
  const oversold = oversoldBy({ seatsAvailable });
  const stored = { id, seatsAvailable, oversold, createdAt, cancelledAt, revision, lastChange };
  return { ...plan, ...stored, ...(isRevised && revisionOf(flight, "flight.changed", now)) };
}

export function cancelledFlight(flight: Flight, now: Date): Flight {
  return { ...flight, ...revisionOf(flight, "flight.cancelled", now), cancelledAt: now };
}

function revisionOf(
  { revision, departureTime, arrivalTime, origin, destination }: Flight,
  type: NonNullable<Flight["lastChange"]>["type"],
  now: Date,
) {
  const lastChange = {
    type,
    changedAt: now.toISOString(),
    previousDepartureTime: departureTime.toISOString(),
    previousArrivalTime: arrivalTime.toISOString(),
    previousOrigin: origin,
    previousDestination: destination,
  };
  return { revision: revision + 1, lastChange };
}
