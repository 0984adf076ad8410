import type { Cancel, Clock } from "../../base/clock.ts";
import type { MakeId } from "../../base/ids.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { insertEvent } from "../../gateway/events/events.sql.ts";
import type { Outbox } from "../../gateway/notifications/outbox.ts";
import type { Log } from "../../telemetry/log.ts";
import { transitions } from "../booking-state.ts";
import type { Booking } from "../booking.ts";
import { giveSeatsBack } from "../flights/flights.sql.ts";

import { bookingEvent, bookingMessage } from "./booking-event.ts";
import { type BookingOnFlight, expiredHolds, expireHold, nextExpiry } from "./bookings.sql.ts";

/** Releases the seats of holds that were not paid in time. */
export interface HoldExpiry {
  start(): void;
  /** Call after a hold was committed. */
  wake(): void;
  /** Waits for the transaction that is under way. */
  stop(): Promise<void>;
}

interface Parts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly makeId: MakeId;
  readonly seatsChanged: (flightId: Booking["flightId"]) => void;
}

/** Holds released at once: they share a group commit. */
const batchSize = 100;
/** The longest time between two looks, for holds of other instances and after the clock was set forward. */
const longestSleepMs = 2_000;

export function holdExpiry(parts: Parts): HoldExpiry {
  const { storage, clock, log } = parts;
  let stopped = true;
  let running = Promise.resolve();
  let isRunning = false;
  let runAgain = false;
  let cancelSleep: Cancel = () => {};

  function wake(): void {
    if (stopped) return;
    if (isRunning) runAgain = true;
    else running = run();
  }

  /** Never runs twice at the same time in this process. Other processes may, so each change is guarded. */
  async function run(): Promise<void> {
    isRunning = true;
    cancelSleep();
    let sleepMs = longestSleepMs;
    try {
      do {
        runAgain = false;
        const due = await storage.all(expiredHolds, {
          now: new Date(clock.now()),
          limit: batchSize,
        });
        await Promise.all(due.map((booking) => expire(parts, booking)));
        runAgain ||= due.length === batchSize;
      } while (runAgain && !stopped);
      const [next] = await storage.all(nextExpiry, {});
      if (next?.expiresAt) sleepMs = next.expiresAt.getTime() - clock.now();
    } catch (error) {
      log.error({ err: error }, "failed to release expired holds; retrying");
    } finally {
      isRunning = false;
      if (!stopped) {
        cancelSleep = clock.after(Math.min(Math.max(sleepMs, 10), longestSleepMs), wake);
      }
    }
  }

  return {
    start() {
      stopped = false;
      wake();
    },
    wake,
    async stop() {
      stopped = true;
      cancelSleep();
      await running;
    },
  };
}

/** Ends one hold, unless it was paid, cancelled or expired by another process. */
async function expire(
  { storage, outbox, clock, log, makeId, seatsChanged }: Parts,
  booking: BookingOnFlight,
): Promise<void> {
  const now = new Date(clock.now());
  const event = bookingEvent(transitions.expire.event, booking, null, makeId, now);
  const [expired] = await storage.atomically(
    write(expireHold, { id: booking.id, updatedAt: now, expiredAt: now }, "stop"),
    write(giveSeatsBack, { id: booking.flightId, seats: booking.seats }),
    write(insertEvent, event),
    ...outbox.writesFor(event, [bookingMessage(event)], { ownerId: booking.userId }),
  );
  if (expired.changes === 0) return;
  log.info({ id: booking.id, reference: booking.reference }, "hold expired");
  outbox.committed();
  seatsChanged(booking.flightId);
}
