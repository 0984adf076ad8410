import { AppError } from "../../base/errors.ts";
import { makeId } from "../../base/ids.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Flight } from "../flight.ts";

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
  /** Called after each transaction, with the flights that are done, of all. The next one begins when it resolves. */
  readonly afterStep?: (done: number, all: number) => Promise<void>;
}

interface Imported {
  readonly skipped: readonly SkippedLine[];
  readonly moved: number;
  readonly cancelled: number;
  /** Bookings whose owners will be notified of a change. */
  readonly notified: number;
}

/** Flights of one transaction: fewer if it takes longer than `stepMs`, in which it holds the write lock. */
const stepSizes = [20, 200] as const;
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
  options: ImportOptions = {},
): Promise<Imported> {
  const counts = { moved: 0, cancelled: 0, notified: 0 };
  for (let attempt = 1; ; attempt += 1) {
    const planned = await plannedChanges(storage, lines, now);
    if (options.skipBad !== true) requireNone(planned.bad, attempt > 1);
    try {
      const late = await importPlanned(storage, planned, now, counts, options);
      if (options.skipBad !== true) requireNone(late, true);
      return { skipped: [...planned.bad, ...late], ...counts };
    } catch (error) {
      if (error !== changedMeanwhile || attempt === maxAttempts) throw error;
    }
  }
}

/** Returns the lines that cannot be imported because more seats were sold meanwhile. */
async function importPlanned(
  storage: Storage,
  planned: PlannedChanges,
  now: Date,
  counts: { moved: number; cancelled: number; notified: number },
  { smallMoveMinutes = 0, afterStep }: ImportOptions,
): Promise<readonly SkippedLine[]> {
  const late: SkippedLine[] = [];
  const newRecord = () => ({
    id: makeId("fch", now.getTime()),
    createdAt: now,
    smallMs: smallMoveMinutes * 60_000,
  });
  const changes = changesIn(planned);
  const [least, most] = stepSizes;
  for (let start = 0, size: number = most; start < changes.length;) {
    const step = changes.slice(start, start + size);
    const begunMs = performance.now();
    /** Before those of all changes of this step. */
    const imported = { createdAt: now, id: makeId("fch", now.getTime()) };
    const results = await storage.atomically(
      ...step.flatMap((change) => writesOf(change, newRecord())),
      write(giveOfferedBack, imported),
      write(endOffers, { ...imported, updatedAt: now }),
      write(insertNotices, imported),
    );
    for (const [index, change] of step.entries()) {
      if (change.is !== "updated") counts[change.is] += 1;
      else if (results[index * 2 + 1]?.changes === 0) {
        late.push({ line: change.line, error: tooFewSeats(change.plan) });
      }
    }
    counts.notified += results.at(-1)?.changes ?? 0;
    const fits = Math.floor((size * stepMs) / (performance.now() - begunMs));
    size = Math.max(least, Math.min(fits, most));
    start += step.length;
    await afterStep?.(start, changes.length);
  }
  return late;
}

type Change =
  | { readonly is: "cancelled"; readonly flight: Flight }
  | ({ readonly is: "moved" } & PlannedChanges["moves"][number])
  | ({ readonly is: "updated" } & PlannedChanges["updates"][number]);

/** In the order in which they are possible: a flight may take the departure of one that moved. */
function changesIn({ cancelled, moves, updates }: PlannedChanges): readonly Change[] {
  return [
    ...cancelled.map((flight) => ({ is: "cancelled", flight }) as const),
    ...moves.map((move) => ({ is: "moved", ...move }) as const),
    ...updates.map((update) => ({ is: "updated", ...update }) as const),
  ];
}

function writesOf(
  change: Change,
  record: { id: `fch_${string}`; createdAt: Date; smallMs: number },
) {
  if (change.is === "updated") {
    const { plan } = change;
    return [
      write(recordUpdate, { ...plan, ...record }),
      write(upsertFlight, { ...plan, createdAt: record.createdAt }),
    ];
  }
  const { id: flightId, departureTime: previousDepartureTime } = change.flight;
  if (change.is === "cancelled") {
    return [
      write(recordCancellation, { ...record, flightId }, changedMeanwhile),
      write(cancelFlight, { flightId, cancelledAt: record.createdAt }, changedMeanwhile),
    ];
  }
  const { plan } = change;
  return [
    write(recordMove, { ...plan, ...record, flightId }, changedMeanwhile),
    write(moveFlight, { ...plan, flightId, previousDepartureTime }, changedMeanwhile),
  ];
}

/** Throws the first of these lines. `isBegun`: others were imported. */
function requireNone(bad: readonly SkippedLine[], isBegun: boolean): void {
  const [first] = bad.toSorted((one, other) => one.line - other.line);
  if (first === undefined) return;
  const rest = isBegun
    ? ". The flights changed during the import, and other lines were imported"
    : "";
  throw new AppError("validation-failed", `line ${first.line}: ${first.error}${rest}`);
}
