import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import type { MakeId } from "../../base/ids.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { insertEvent } from "../../event/events.sql.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import type { Log } from "../../telemetry/log.ts";

import { flightChangeEvent, flightChangeNotification } from "./flight-change-event.ts";
import { markNotified, type UnsentNotice, unsentNotices } from "./flight-change-notices.sql.ts";

interface Parts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly makeId: MakeId;
}

/** Bookings notified at once: they share a group commit. */
const batchSize = 100;
/** Imports run in other processes. */
const intervalMs = 2_000;

/**
 * Notifies the bookings that an import has stored with a change of their flight, once each: the event and the mark that
 * it was made are one transaction, and of several instances only one sets the mark.
 */
export function flightChangeSending(parts: Parts): BackgroundTask {
  const { storage, clock, log } = parts;
  const task = backgroundTask(clock, async () => {
    try {
      const unsent = await storage.all(unsentNotices, { limit: batchSize });
      await Promise.all(unsent.map((notice) => send(parts, notice)));
      if (unsent.length > 0) log.info({ bookings: unsent.length }, "flight changes notified");
      if (unsent.length === batchSize) task.wake();
    } catch (error) {
      log.error({ err: error }, "failed to notify bookings of flight changes; retrying");
    }
    return intervalMs;
  });
  return task;
}

async function send(
  { storage, outbox, clock, makeId }: Parts,
  { change, ...booking }: UnsentNotice,
): Promise<void> {
  const now = new Date(clock.now());
  const event = flightChangeEvent(booking, change, makeId, now);
  const notification = flightChangeNotification(event);
  const [marked] = await storage.atomically(
    write(markNotified, { changeId: change.id, bookingId: booking.id, notifiedAt: now }, "stop"),
    write(insertEvent, event),
    ...outbox.writesFor(event, [notification], { ownerId: booking.userId }),
  );
  if (marked.changes > 0) outbox.committed(event);
}
