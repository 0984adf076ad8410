import type { Storage } from "../../db/storage.ts";
import { departed, type Flight, type FlightPlan } from "../flight.ts";

import type { PlannedChange } from "./flight-plan.ts";
import { flightByKey, type FlightKey, recordedMove } from "./import-flights.sql.ts";

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

/** What lines that move or cancel flights do. */
export interface PlannedChanges {
  /** Flights to move to the times of their plans, in an order in which no two have the same departure in between. */
  readonly moves: readonly { readonly flight: Flight; readonly plan: FlightPlan }[];
  readonly cancelled: readonly Flight[];
  /** The lines that remain: those of flights that were moved before, or that only add or update a flight. */
  readonly updates: readonly FlightLine[];
  readonly bad: readonly SkippedLine[];
}

/** Flights looked up at once. */
const batchSize = 200;

/** Decides what lines change of flights that exist, so that a bad line shows before anything is written. */
export async function plannedChanges(
  storage: Storage,
  lines: readonly FlightLine[],
  now: Date,
): Promise<PlannedChanges> {
  const changing = lines.filter((line) => line.isCancelled || line.previousDepartureTime);
  const known = await knownFlights(storage, lines);
  const moves: PlannedChanges["moves"][number][] = [];
  const cancelled: Flight[] = [];
  const movedBefore: FlightLine[] = [];
  const bad: SkippedLine[] = [];

  for (const { line, plan } of changing.filter(({ isCancelled }) => isCancelled)) {
    const flight = known.at(plan);
    const error = flight?.cancelledAt ? null : unchangeable(flight, plan, now);
    if (error !== null) bad.push({ line, error });
    else if (flight?.cancelledAt === null) {
      cancelled.push(flight);
      known.put({ ...flight, cancelledAt: now });
    }
  }
  for (const one of inOrder(changing)) {
    const { line, plan, previousDepartureTime } = one;
    const from = { ...plan, departureTime: previousDepartureTime };
    const [flight, target] = [known.at(from), known.at(plan)];
    if (target && known.wasMoved(target, from)) {
      movedBefore.push(one);
      continue;
    }
    const error = target
      ? `${named(plan)}: there is another flight with this departureTime`
      : (unchangeable(flight, from, now) ?? unmovable(flight, plan, now));
    if (error !== null) bad.push({ line, error });
    else if (flight) {
      moves.push({ flight, plan });
      known.move(flight, plan);
    }
  }
  const plain = lines.filter((line) => !line.isCancelled && !line.previousDepartureTime);
  const updates = [...movedBefore, ...plain].filter(({ line, plan }) => {
    const isPossible = soldOf(known.at(plan)) <= plan.seats;
    if (!isPossible) bad.push({ line, error: tooFewSeats(plan) });
    return isPossible;
  });
  return { moves, cancelled, updates, bad };
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
  return departed(flight, now) ? `${named(key)}: the flight has departed` : null;
}

function unmovable(flight: Flight | undefined, plan: FlightPlan, now: Date): string | null {
  if (plan.departureTime <= now) return `${named(plan)}: a flight cannot be moved to the past`;
  return soldOf(flight) > plan.seats ? tooFewSeats(plan) : null;
}

const soldOf = (flight: Flight | undefined) =>
  flight === undefined ? 0 : flight.seats - flight.seatsAvailable;

export function tooFewSeats(plan: FlightPlan): string {
  return `${named(plan)}: more than ${plan.seats} seats are already sold`;
}

function named({ flightNumber, departureTime, cabinClass }: FlightKey): string {
  return `${flightNumber} of ${departureTime.toISOString()}, ${cabinClass}`;
}

/** The flights that lines name, as they are after the lines before. */
async function knownFlights(storage: Storage, lines: readonly FlightLine[]) {
  const flights = new Map<string, Flight>();
  const moves = new Set<string>();
  const moveOf = ({ id }: Flight, from: FlightKey) => `${id} ${from.departureTime.getTime()}`;

  const load = async ({ plan, previousDepartureTime }: FlightLine) => {
    const [target] = await storage.all(flightByKey, plan);
    if (target) flights.set(named(plan), target);
    if (previousDepartureTime === undefined) return;
    const from = { ...plan, departureTime: previousDepartureTime };
    const [flight] = await storage.all(flightByKey, from);
    if (flight) flights.set(named(from), flight);
    if (target === undefined) return;
    const move = { flightId: target.id, previousDepartureTime, departureTime: plan.departureTime };
    const [recorded] = await storage.all(recordedMove, move);
    if (recorded) moves.add(moveOf(target, from));
  };
  for (let start = 0; start < lines.length; start += batchSize) {
    await Promise.all(lines.slice(start, start + batchSize).map(load));
  }

  return {
    at: (key: FlightKey) => flights.get(named(key)),
    put: (flight: Flight) => flights.set(named(flight), flight),
    move(flight: Flight, plan: FlightPlan) {
      flights.delete(named(flight));
      flights.set(named(plan), { ...flight, ...plan });
      moves.add(moveOf(flight, flight));
    },
    /** Whether a flight was moved from a departure to its present one, by this file or before. */
    wasMoved: (flight: Flight, from: FlightKey) => moves.has(moveOf(flight, from)),
  };
}
