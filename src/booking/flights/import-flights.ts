import { AppError } from "../../base/errors.ts";
import { makeId } from "../../base/ids.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import { upsertFlight } from "./flights.sql.ts";
import {
  cancelFlight,
  endOffers,
  giveOfferedBack,
  insertNotices,
  moveFlight,
  recordCancellation,
  recordMove,
  recordUpdate,
} from "./import-flights.sql.ts";
import {
  type FlightLine,
  type PlannedChanges,
  plannedChanges,
  type SkippedLine,
  tooFewSeats,
} from "./planned-changes.ts";

interface ImportOptions {
  /** Skip invalid lines, and import the others. */
  readonly skipBad?: boolean;
  /** Owners are not asked about a move by less than this. */
  readonly smallMoveMinutes?: number;
}

interface Imported {
  readonly skipped: readonly SkippedLine[];
  readonly moved: number;
  readonly cancelled: number;
  /** Bookings whose owners will be notified of a change. */
  readonly notified: number;
}

/** Attempts, if flights that the file moves or cancels are sold or imported at the same time. */
const maxAttempts = 5;
const changedMeanwhile = new AppError("unavailable", "The flights changed during the import", {
  retryAfterSeconds: 1,
});

/**
 * Adds flights. Updates flights with the same flight number, departure and cabin, and keeps their seats already
 * sold. Moves and cancels flights first, where lines say so. Imports all flights or none: one transaction, which holds
 * the database's write lock for about 20 µs per flight, and also stores which bookings are affected; a server notifies
 * their owners. Throws `validation-failed`, which names the line, if a flight cannot be changed so. With `skipBad`,
 * returns these lines instead and imports the others.
 */
export async function importFlights(
  storage: Storage,
  lines: readonly FlightLine[],
  now: Date,
  options: ImportOptions = {},
): Promise<Imported> {
  for (let attempt = 1; ; attempt += 1) {
    const planned = await plannedChanges(storage, lines, now);
    const [first] = planned.bad.toSorted((one, other) => one.line - other.line);
    if (first !== undefined && options.skipBad !== true) throw invalidLine(first);
    try {
      return await importPlanned(storage, planned, now, options);
    } catch (error) {
      if (error !== changedMeanwhile || attempt === maxAttempts) throw error;
    }
  }
}

async function importPlanned(
  storage: Storage,
  { moves, cancelled, updates, bad }: PlannedChanges,
  now: Date,
  { skipBad = false, smallMoveMinutes = 0 }: ImportOptions,
): Promise<Imported> {
  const newRecord = () => ({
    id: makeId("fch", now.getTime()),
    createdAt: now,
    smallMs: smallMoveMinutes * 60_000,
  });
  /** Before those of all changes. */
  const imported = { createdAt: now, id: makeId("fch", now.getTime()) };
  const cancellations = cancelled.flatMap(({ id: flightId }) => [
    write(recordCancellation, { ...newRecord(), flightId }, changedMeanwhile),
    write(cancelFlight, { flightId, cancelledAt: now }, changedMeanwhile),
  ]);
  const movements = moves.flatMap(({ flight, plan }) => {
    const { id: flightId, departureTime: previousDepartureTime } = flight;
    return [
      write(recordMove, { ...plan, ...newRecord(), flightId }, changedMeanwhile),
      write(moveFlight, { ...plan, flightId, previousDepartureTime }, changedMeanwhile),
    ];
  });
  const upserts = updates.flatMap(({ line, plan }) => {
    const onNoRows = skipBad ? undefined : invalidLine({ line, error: tooFewSeats(plan) });
    return [
      write(recordUpdate, { ...plan, ...newRecord() }),
      write(upsertFlight, { ...plan, createdAt: now }, onNoRows),
    ];
  });
  const results = await storage.atomically(
    ...cancellations,
    ...movements,
    ...upserts,
    write(giveOfferedBack, imported),
    write(endOffers, { ...imported, updatedAt: now }),
    write(insertNotices, imported),
  );
  const upserted = results.slice(cancellations.length + movements.length);
  const tooSmall = updates
    .filter((_, index) => upserted[index * 2 + 1]?.changes === 0)
    .map(({ line, plan }) => ({ line, error: tooFewSeats(plan) }));
  return {
    skipped: [...bad, ...tooSmall],
    moved: moves.length,
    cancelled: cancelled.length,
    notified: results.at(-1)?.changes ?? 0,
  };
}

function invalidLine({ line, error }: SkippedLine): AppError {
  return new AppError("validation-failed", `line ${line}: ${error}`);
}
