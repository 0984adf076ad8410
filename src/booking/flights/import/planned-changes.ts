import type { Storage } from "../../../db/storage.ts";
import { cancelledFlight, updatedFlight } from "../../model/flight-change.ts";
import { type Flight, type FlightPlan, hasDeparted } from "../../model/flight.ts";

import type { PlannedChange } from "./flight-plan.ts";
import { flightByKey, type FlightKey } from "./import-flights.sql.ts";

/** A flight to import, and its line in the file. */
export interface FlightLine extends PlannedChange {
  readonly line: number;
  readonly plan: FlightPlan;
}

/** A line that was not imported. */
export interface SkippedLine {
  readonly line: number;
  readonly error: string;
}

/** A stored flight before and after its line. */
export interface Update {
  readonly before: Flight;
  readonly after: Flight;
}

/** What lines do. */
export interface PlannedChanges {
  /** In an order in which no two flights have the same departure in between. */
  readonly updates: readonly Update[];
  readonly added: readonly FlightPlan[];
  readonly bad: readonly SkippedLine[];
}

/** Flights looked up at once. */
const batchSize = 200;

/** Decides what lines change of flights that exist, so that a bad line shows before anything is written. */
export async function plannedChanges(
  storage: Storage,
  lines: readonly FlightLine[],
  now: Date,
  onChecked?: (done: number, all: number) => void,
): Promise<PlannedChanges> {
  const changing = lines.filter((line) => line.isCancelled || line.previousDepartureTime);
  const known = await knownFlights(storage, lines, onChecked);
  const updates: Update[] = [];
  const added = new Map<string, FlightPlan>();
  const movedBefore: FlightLine[] = [];
  const bad: SkippedLine[] = [];
  const update = (before: Flight, after: Flight) => {
    updates.push({ before, after });
    known.put(before, after);
  };

  for (const { line, plan } of changing.filter(({ isCancelled }) => isCancelled)) {
    const flight = known.at(plan);
    const error = flight?.cancelledAt ? null : unchangeable(flight, plan, now);
    if (error !== null) bad.push({ line, error });
    else if (flight?.cancelledAt === null) update(flight, cancelledFlight(flight, now));
  }
  for (const one of inOrder(changing)) {
    const { line, plan, previousDepartureTime } = one;
    const from = { ...plan, departureTime: previousDepartureTime };
    const [flight, target] = [known.at(from), known.at(plan)];
    if (target && wasMoved(target, from)) {
      movedBefore.push(one);
      continue;
    }
    const error = target
      ? `${named(plan)}: there is another flight with this departureTime`
      : (unchangeable(flight, from, now) ?? intoThePast(plan, now));
    if (error !== null) bad.push({ line, error });
    else if (flight) update(flight, updatedFlight(flight, plan, now));
  }
  const plain = lines.filter((line) => !line.isCancelled && !line.previousDepartureTime);
  for (const { plan } of [...movedBefore, ...plain]) {
    const flight = known.at(plan);
    if (flight === undefined) added.set(named(plan), plan);
    else update(flight, updatedFlight(flight, plan, now));
  }
  return { updates, added: [...added.values()], bad };
}

/** Whether a flight was moved from a departure to its present one. */
function wasMoved({ lastChange }: Flight, { departureTime }: FlightKey): boolean {
  return lastChange?.previousDepartureTime === departureTime.toISOString();
}

type Move = FlightLine & Required<Pick<PlannedChange, "previousDepartureTime">>;

/** The departures of a daily flight may all move by a day: so that each is free in time, the last one moves first. */
function inOrder(lines: readonly FlightLine[]): readonly Move[] {
  const moves = lines.filter((line): line is Move => line.previousDepartureTime !== undefined);
  const [later, earlier] = [
    moves.filter(({ plan, previousDepartureTime }) => plan.departureTime > previousDepartureTime),
    moves.filter(({ plan, previousDepartureTime }) => plan.departureTime < previousDepartureTime),
  ];
  const byDeparture = (one: Move, other: Move) =>
    one.plan.departureTime.getTime() - other.plan.departureTime.getTime();
  return [...later.toSorted(byDeparture).toReversed(), ...earlier.toSorted(byDeparture)];
}

function unchangeable(flight: Flight | undefined, key: FlightKey, now: Date): string | null {
  if (flight === undefined) return `${named(key)}: there is no such flight`;
  if (flight.cancelledAt !== null) return `${named(key)}: the flight is cancelled`;
  return hasDeparted(flight, now) ? `${named(key)}: the flight has departed` : null;
}

function intoThePast(plan: FlightPlan, now: Date): string | null {
  if (plan.departureTime > now) return null;
  return `${named(plan)}: a flight cannot be moved to the past`;
}

function named({ flightNumber, departureTime, cabinClass }: FlightKey): string {
  return `${flightNumber} of ${departureTime.toISOString()}, ${cabinClass}`;
}

/** The flights that lines name, as they are after the lines before. */
async function knownFlights(
  storage: Storage,
  lines: readonly FlightLine[],
  onChecked?: (done: number, all: number) => void,
) {
  const flights = new Map<string, Flight>();
  const load = async ({ plan, previousDepartureTime }: FlightLine) => {
    const [target] = await storage.all(flightByKey, plan);
    if (target) flights.set(named(plan), target);
    if (previousDepartureTime === undefined) return;
    const from = { ...plan, departureTime: previousDepartureTime };
    const [flight] = await storage.all(flightByKey, from);
    if (flight) flights.set(named(from), flight);
  };
  for (let start = 0; start < lines.length; start += batchSize) {
    await Promise.all(lines.slice(start, start + batchSize).map(load));
    onChecked?.(Math.min(start + batchSize, lines.length), lines.length);
  }

  return {
    at: (key: FlightKey) => flights.get(named(key)),
    put(before: Flight, after: Flight) {
      flights.delete(named(before));
      flights.set(named(after), after);
    },
  };
}
