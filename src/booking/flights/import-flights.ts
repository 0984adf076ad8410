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
  /** Called after each transaction, with the number of flights written and of all. Delays the next transaction. */
  readonly afterStep?: (done: number, all: number) => Promise<void>;
}

interface Imported {
  readonly skipped: readonly SkippedLine[];
  readonly moved: number;
  readonly cancelled: number;
  /** Bookings whose owners will be notified of a change. */
  readonly notified: number;
}

/** Flights of one transaction. Fewer if that holds the write lock for longer than `stepMs`. */
const mostPerStep = 200;
const stepMs = 50;
/** Attempts, if flights that the file moves or cancels are sold or imported at the same time. */
const maxAttempts = 5;
const changedMeanwhile = new AppError("unavailable", "The flights changed during the import", {
  retryAfterSeconds: 1,
});

/**
 * Adds flights. Updates flights with the same flight number, departure and cabin, and keeps their seats already
 * sold. Moves and cancels flights first, where lines say so. Throws `validation-failed`, which names the line, if a flight
 * cannot be changed so, before anything is written. With `skipBad`, returns these lines instead and imports the others.
 * Each transaction is short, so that a server can write in between, and also stores which bookings it affects; a server
 * notifies their owners. After an interruption, the same file completes the import and changes nothing twice.
 */
export async function importFlights(
  storage: Storage,
  lines: readonly FlightLine[],
  now: Date,
  { skipBad = false, smallMoveMinutes = 0, afterStep }: ImportOptions = {},
): Promise<Imported> {
  let first: PlannedChanges | null = null;
  let notified = 0;
  for (let attempt = 1; ; attempt += 1) {
    const planned = await plannedChanges(storage, lines, now);
    first ??= planned;
    if (!skipBad) requireNone(planned.bad, attempt > 1);
    const skipped = [...planned.bad];
    try {
      for await (const step of importInSteps(storage, planned, now, smallMoveMinutes)) {
        skipped.push(...step.late);
        notified += step.notified;
        await afterStep?.(step.done, step.all);
      }
    } catch (error) {
      if (error !== changedMeanwhile || attempt === maxAttempts) throw error;
      continue;
    }
    if (!skipBad) requireNone(skipped, true);
    return { skipped, moved: first.moves.length, cancelled: first.cancelled.length, notified };
  }
}

/** Yields after each transaction. `late`: lines that cannot be imported because more seats were sold meanwhile. */
async function* importInSteps(
  storage: Storage,
  { moves, cancelled, updates }: PlannedChanges,
  now: Date,
  smallMoveMinutes: number,
) {
  /** With ids that increase. */
  const newRecord = () => ({
    id: makeId("fch", now.getTime()),
    createdAt: now,
    smallMs: smallMoveMinutes * 60_000,
  });
  const changes = [
    ...cancelled.map(({ id: flightId }) => () => [
      write(recordCancellation, { ...newRecord(), flightId }, changedMeanwhile),
      write(cancelFlight, { flightId, cancelledAt: now }, changedMeanwhile),
    ]),
    ...moves.map(({ flight, plan }) => () => {
      const { id: flightId, departureTime: previousDepartureTime } = flight;
      return [
        write(recordMove, { ...plan, ...newRecord(), flightId }, changedMeanwhile),
        write(moveFlight, { ...plan, flightId, previousDepartureTime }, changedMeanwhile),
      ];
    }),
    ...updates.map(({ plan }) => () => [
      write(recordUpdate, { ...plan, ...newRecord() }),
      write(upsertFlight, { ...plan, createdAt: now }),
    ]),
  ];
  const all = changes.length;
  let [done, size] = [0, mostPerStep];
  while (done < all) {
    const step = changes.slice(done, done + size);
    const begunMs = performance.now();
    const imported = newRecord();
    const results = await storage.atomically(
      ...step.flatMap((writes) => writes()),
      write(giveOfferedBack, imported),
      write(endOffers, { ...imported, updatedAt: now }),
      write(insertNotices, imported),
    );
    const late = [...step.keys()].flatMap((index): SkippedLine[] => {
      const update = updates[done + index - cancelled.length - moves.length];
      if (update === undefined || results[index * 2 + 1]?.changes !== 0) return [];
      return [{ line: update.line, error: tooFewSeats(update.plan) }];
    });
    done += step.length;
    const fits = Math.ceil((size * stepMs) / (performance.now() - begunMs));
    size = Math.min(fits, mostPerStep);
    yield { done, all, late, notified: results.at(-1)?.changes ?? 0 };
  }
}

/** Throws an error for the first of these lines, if any. `isBegun`: others were imported. */
function requireNone(bad: readonly SkippedLine[], isBegun: boolean): void {
  const [first] = bad.toSorted((one, other) => one.line - other.line);
  if (first === undefined) return;
  const rest = isBegun
    ? ". The flights changed during the import, and other lines were imported"
    : "";
  throw new AppError("validation-failed", `line ${first.line}: ${first.error}${rest}`);
}
