import { type BackgroundTask, backgroundTask } from "../../../base/background-task.ts";
import type { Clock } from "../../../base/clock.ts";
import { positionIn } from "../../../base/ids.ts";
import { write } from "../../../db/statement.ts";
import type { Storage } from "../../../db/storage.ts";
import type { Event } from "../../../event/event.ts";
import { eventsAt, indexAgain } from "../../../event/events.sql.ts";
import type { Outbox } from "../../../outbound/deliveries/outbox.ts";
import type { Log } from "../../../telemetry/log.ts";
import { ownNotification } from "../../events/own-events.ts";

import { removeFlightEvent, unsentFlightEvents } from "./import-flights.sql.ts";

interface Parts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
}

/** Events notified at once: they share a group commit. */
const batchSize = 100;
/** Imports run in other processes. */
const intervalMs = 2_000;

/** Stores the notifications of the events that imports have stored, once each, however many instances do so. */
export function flightChangeSending(parts: Parts): BackgroundTask {
  const { storage, clock, log } = parts;
  const task = backgroundTask(clock, async () => {
    try {
      const unsent = await storage.all(unsentFlightEvents, { limit: batchSize });
      const ids = unsent.map(({ eventId }) => eventId);
      const events =
        ids.length === 0 ? [] : await storage.all(eventsAt, { positions: ids.map(positionIn) });
      await Promise.all(
        ids.map((id) =>
          send(
            parts,
            id,
            events.find((event) => event.id === id),
          ),
        ),
      );
      if (ids.length > 0) log.info({ flights: ids.length }, "flight changes notified");
      if (unsent.length === batchSize) task.wake();
    } catch (error) {
      log.error({ err: error }, "failed to notify of flight changes; retrying");
    }
    return intervalMs;
  });
  return task;
}

/** `event`: undefined if retention has deleted it. */
async function send(
  { storage, outbox }: Parts,
  eventId: Event["id"],
  event: Event | undefined,
): Promise<void> {
  const [removed] = await storage.atomically(
    write(removeFlightEvent, { eventId }, "stop"),
    ...(event === undefined
      ? []
      : [
          ...outbox.writesFor({ ...event, place: positionIn(eventId) }, [ownNotification(event)]),
          write(indexAgain, { id: eventId }),
        ]),
  );
  if (event !== undefined && removed.changes > 0) outbox.committed(event);
}
