import { AppError } from "../../../base/errors.ts";
import { type Later, type Write, write } from "../../../db/statement.ts";
import type { Storage } from "../../../db/storage.ts";
import { insertEvent } from "../../../event/events.sql.ts";
import { ownEvent } from "../../events/own-events.ts";
import { oversoldBy, soldOf } from "../../model/flight-change.ts";
import { type Flight, hasDeparted } from "../../model/flight.ts";
import { insertFlight } from "../flights.sql.ts";

import { insertFlightEvent, updateFlight } from "./import-flights.sql.ts";
import {
  type FlightLine,
  type PlannedChanges,
  plannedChanges,
  type SkippedLine,
  type Update,
} from "./planned-changes.ts";
import { splitDepartures } from "./split-departures.ts";

interface Parts {
  readonly storage: Storage;
  /** The writes that end what depends on flights that the import changes, in the same transaction. */
  readonly endOutdated: (
    flightIds: readonly Flight["id"][],
    now: Date,
  ) => readonly Write<unknown>[];
}

interface ImportOptions {
  /** Skip invalid lines, and import the others. */
  readonly skipBad?: boolean;
  /** Called while lines are compared with the stored flights, before anything is written. */
  readonly onChecked?: (done: number, all: number) => void;
  /** Called after each transaction, with the number of flights written and of all. Delays the next transaction. */
  readonly afterStep?: (done: number, all: number) => Promise<void>;
}

interface Imported {
  readonly skipped: readonly SkippedLine[];
  /** Flights that got other times or airports. */
  readonly changed: number;
  readonly cancelled: number;
  /** What a person should look at. */
  readonly warnings: readonly string[];
}

/** Flights of one transaction. Fewer if that holds the write lock for longer than `stepMs`. */
const mostPerStep = 200;
const stepMs = 50;
/** Attempts, if flights of the file are sold or imported at the same time. */
const maxAttempts = 5;
const changedMeanwhile = new AppError("unavailable", "The flights changed during the import", {
  retryAfterSeconds: 1,
});

/**
 * Adds flights. Updates flights with the same flight number, departure and cabin, and keeps their seats already
 * sold, also if there are fewer seats now. Moves and cancels flights first, where lines say so. Throws `validation-failed`, which names the line, if a flight
 * cannot be changed so, before anything is written. With `skipBad`, returns these lines instead and imports the others.
 * Each transaction is short, so that a server can write in between, and also stores an event for each flight that it
 * changes; a server notifies of it. After an interruption, the same file completes the import and changes nothing twice.
 */
export async function importFlights(
  parts: Parts,
  lines: readonly FlightLine[],
  now: Date,
  { skipBad = false, onChecked, afterStep }: ImportOptions = {},
): Promise<Imported> {
  const counts = { changed: 0, cancelled: 0 };
  const warnings = new Set<string>();
  for (let attempt = 1; ; attempt += 1) {
    const planned = await plannedChanges(parts.storage, lines, now, onChecked);
    if (!skipBad) requireNone(planned.bad, attempt > 1);
    for (const warning of await splitDepartures(parts.storage, planned.updates))
      warnings.add(warning);
    try {
      for await (const { changed, done, all } of importInSteps(parts, planned, now)) {
        for (const { cancelledAt } of changed) {
          counts[cancelledAt === null ? "changed" : "cancelled"] += 1;
        }
        await afterStep?.(done, all);
      }
    } catch (error) {
      if (error !== changedMeanwhile || attempt === maxAttempts) throw error;
      continue;
    }
    return { skipped: planned.bad, warnings: [...warnings], ...counts };
  }
}

/** Yields after each transaction. Throws `changedMeanwhile`. */
async function* importInSteps(
  { storage, endOutdated }: Parts,
  { updates, added }: PlannedChanges,
  now: Date,
): AsyncGenerator<{ changed: readonly Flight[]; done: number; all: number }> {
  const all = updates.length + added.length;
  let [done, size] = [0, mostPerStep];
  while (done < all) {
    const step = updates.slice(done, done + size);
    const first = Math.max(0, done - updates.length);
    const adding = added.slice(first, first + size - step.length);
    const changed = step.filter(isRevised).map(({ after }) => after);
    const flightIds = changed.map(({ id }) => id);
    const begunMs = performance.now();
    await storage.atomically(
      ...step.flatMap((update) => writesOf(update, now)),
      ...adding.map((plan) => write(insertFlight, { ...plan, createdAt: now }, changedMeanwhile)),
      ...endOutdated(flightIds, now),
    );
    done += step.length + adding.length;
    const fits = Math.ceil((size * stepMs) / (performance.now() - begunMs));
    size = Math.min(fits, mostPerStep);
    yield { changed, done, all };
  }
}

const isRevised = ({ before, after }: Update) => after.revision !== before.revision;

/**
 * The writes that update a flight, with the event about a change. Another arrival or airport has none while no seat is
 * sold: a new timetable would have thousands.
 */
function writesOf(update: Update, now: Date): readonly (Write<unknown> | Later)[] {
  const { before, after } = update;
  const { lastChange, cancelledAt, departureTime, seats } = after;
  const isMoved = departureTime.getTime() !== before.departureTime.getTime();
  const isNews = isMoved || cancelledAt !== before.cancelledAt || soldOf(before) > 0;
  // Those sold since the flight was read may have to be notified too.
  const mostSold = isRevised(update) && !isNews ? 0 : Math.max(seats, soldOf(before));
  const read = { readRevision: before.revision, readOversold: before.oversold };
  const values = { ...after, ...read, mostSold };
  const written = write(updateFlight, values, changedMeanwhile);
  const events = [
    ...(isRevised(update) && isNews && lastChange !== null
      ? [ownEvent(lastChange.type, [after, lastChange], null, null, now)]
      : []),
    ...(oversoldBy(after) > oversoldBy(before) && cancelledAt === null && !hasDeparted(after, now)
      ? [ownEvent("flight.oversold", [after, now], null, null, now)]
      : []),
  ];
  return [
    written,
    ...events.flatMap((event) => [
      write(insertEvent, event),
      () => [write(insertFlightEvent, { eventId: event.place.id })],
    ]),
  ];
}

/** Throws an error for the first of these lines, if any. `isBegun`: others were imported. */
function requireNone(bad: readonly SkippedLine[], isBegun: boolean): void {
  const [first] = bad.toSorted((one, other) => one.line - other.line);
  if (first === undefined) return;
  const rest = isBegun
    ? ". The flights changed during the import, and other lines were imported"
    : ". No line was imported: correct it, or skip it with --skip-bad";
  throw new AppError("validation-failed", `line ${first.line}: ${first.error}${rest}`);
}
