import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import { write } from "../../db/statement.ts";
import type { Log } from "../../telemetry/log.ts";
import { closesAfter, type Flight } from "../flight.ts";

import { eventWrites, type Line, type LineParts } from "./line.ts";
import { waitlistEvent } from "./waitlist-event.ts";
import {
  endedEntries,
  endEntry,
  entriesOffSale,
  type EntryOnFlight,
  flightsWithOffersDue,
  nextToEnd,
} from "./waitlist.sql.ts";

interface Parts extends LineParts {
  readonly log: Log;
  readonly line: Line;
  readonly seatsChanged: (flightId: Flight["id"]) => void;
}

/** Entries ended, and flights whose seats are offered, in one round. */
const batchSize = 100;
/** The longest time between two looks: for other instances, imports, and after the clock was set forward. */
const longestSleepMs = 2_000;

/**
 * Ends offers and waits that are over, and makes the offers that others left out: an import that added seats, and a
 * transaction whose rivals kept winning. Other processes may do the same at the same time, so each change is guarded.
 */
export function offerExpiry(parts: Parts): BackgroundTask {
  const { storage, clock, log } = parts;
  const task = backgroundTask(clock, async () => {
    try {
      const now = new Date(clock.now());
      const due = { now, closesAfter: closesAfter(now), limit: batchSize };
      const ended = [
        ...(await storage.all(endedEntries, due)),
        ...(await storage.all(entriesOffSale, due, "long")),
      ];
      const byFlight = Map.groupBy(ended, ({ flightId }) => flightId);
      // One by one, because the entries of a flight change the same line.
      await Promise.all(
        Array.from(byFlight.values(), async (entries) => {
          for (const entry of entries) await expire(parts, entry);
        }),
      );
      const flights = await storage.all(flightsWithOffersDue, due, "long");
      await Promise.all(flights.map(({ flightId }) => makeOffers(parts, flightId)));
      if (ended.length >= batchSize || flights.length === batchSize) {
        task.wake();
        return null;
      }
      const [next] = await storage.all(nextToEnd, {});
      const endsAt = next?.offerExpiresAt ?? next?.until;
      const untilMs = endsAt === undefined ? longestSleepMs : endsAt.getTime() - clock.now();
      return Math.min(Math.max(untilMs, 10), longestSleepMs);
    } catch (error) {
      log.error({ err: error }, "failed to update waiting lists; retrying");
      return longestSleepMs;
    }
  });
  return task;
}

/** Ends one entry, unless its seats were booked, or it was left or ended by another process. */
async function expire(
  { storage, outbox, clock, makeId, line, seatsChanged }: Parts,
  entry: EntryOnFlight,
) {
  const { status: before, flightId } = entry;
  const now = new Date(clock.now());
  const event = waitlistEvent("waitlist.expired", entry, entry.flight, makeId, now);
  const end = write(endEntry, { ...entry, before, status: "expired", updatedAt: now }, "stop");
  const events = () => eventWrites(outbox, event, entry);
  const [expired] =
    before === "waiting"
      ? await storage.atomically(end, ...events())
      : await line.freeing(entry, (back) => storage.atomically(end, ...back, ...events()));
  if (expired.changes === 0) return;
  outbox.committed(event);
  seatsChanged(flightId);
}

async function makeOffers({ storage, line, seatsChanged }: Parts, flightId: Flight["id"]) {
  await line.freeing({ flightId, seats: 0 }, (offers) => storage.atomically(...offers));
  seatsChanged(flightId);
}
