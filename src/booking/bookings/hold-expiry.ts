import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { changedMeanwhile } from "../../inbound/receive/effects.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import type { Log } from "../../telemetry/log.ts";
import type { BookingChange } from "../booking-change.ts";
import { transitions } from "../booking-state.ts";
import type { Booking } from "../booking.ts";
import { giveSeatsBack } from "../flights/flights.sql.ts";
import type { EventMaking } from "../own-event.ts";

import { bookingEvent, bookingEventWrites } from "./booking-event.ts";
import { type BookingOnFlight, expiredHolds, expireHold, nextExpiry } from "./bookings.sql.ts";
import { endingOf } from "./change-making.ts";
import { expiredChanges, nextChangeExpiry } from "./changes.sql.ts";

interface Parts extends EventMaking {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly seatsChanged: (flightId: Booking["flightId"]) => void;
}

/** Holds released at once: they share a group commit. */
const batchSize = 100;
/** The longest time between two looks, for holds of other instances and after the clock was set forward. */
const longestSleepMs = 2_000;

/**
 * Releases the seats of holds, and of offers to change, that were not paid or confirmed in time. Wake it after one was
 * committed. Other processes may release the same seats at the same time, so each change is guarded.
 */
export function holdExpiry(parts: Parts): BackgroundTask {
  const { storage, clock, log } = parts;
  const task = backgroundTask(clock, async () => {
    try {
      const now = new Date(clock.now());
      const due = await storage.all(expiredHolds, { now, limit: batchSize });
      const offers = await storage.all(expiredChanges, { now, limit: batchSize });
      await Promise.all([
        ...due.map((booking) => expire(parts, booking)),
        ...offers.map((offer) => expireOffer(parts, offer)),
      ]);
      if (due.length === batchSize || offers.length === batchSize) {
        task.wake();
        return null;
      }
      const [[hold], [offer]] = await Promise.all([
        storage.all(nextExpiry, {}),
        storage.all(nextChangeExpiry, {}),
      ]);
      const untilMs = [hold, offer].map((next) =>
        next?.expiresAt ? next.expiresAt.getTime() - clock.now() : longestSleepMs,
      );
      return Math.min(Math.max(Math.min(...untilMs), 10), longestSleepMs);
    } catch (error) {
      log.error({ err: error }, "failed to release expired holds; retrying");
      return longestSleepMs;
    }
  });
  return task;
}

/** Ends one offer, unless it was confirmed, paid or withdrawn. */
async function expireOffer(
  { storage, clock, log, seatsChanged }: Parts,
  offer: BookingChange,
): Promise<void> {
  const now = new Date(clock.now());
  try {
    await storage.atomically(...endingOf(offer, "expired", now));
  } catch (error) {
    if (error !== changedMeanwhile) throw error;
    return;
  }
  log.info({ id: offer.id, bookingId: offer.bookingId }, "offer to change a booking expired");
  if (offer.newFlightId !== null) seatsChanged(offer.newFlightId);
}

/** Ends one hold, unless it was paid, cancelled or expired by another process. */
async function expire(parts: Parts, booking: BookingOnFlight): Promise<void> {
  const { storage, outbox, clock, log, seatsChanged } = parts;
  const now = new Date(clock.now());
  const event = bookingEvent(transitions.expire.event, booking, null, parts, now);
  const [expired] = await storage.atomically(
    write(expireHold, { ...booking, updatedAt: now, expiredAt: now }, "stop"),
    write(giveSeatsBack, { id: booking.flightId, seats: booking.seats }),
    ...bookingEventWrites(outbox, event, booking.userId),
  );
  if (expired.changes === 0) return;
  log.info({ id: booking.id, reference: booking.reference }, "hold expired");
  outbox.committed(event);
  seatsChanged(booking.flightId);
}
