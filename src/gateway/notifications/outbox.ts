import type { Event } from "../event.ts";
import type { MakeId } from "../../base/ids.ts";
import { insertNotification, rescheduleUndelivered } from "./notifications.sql.ts";
import { type Write, write } from "../../db/statement.ts";

import type { Message, Notification } from "../notification.ts";

/** Puts notifications where the channels find them: in the transaction of what they tell of. */
export interface Outbox {
  /** The steps that write one notification a message, to be run together with the event's own. */
  stepsFor(event: Pick<Event, "id">, messages: readonly Message[]): Write<never>[];
  /** The step that sends again, at once and under their own ids, those of an event that were not delivered. */
  againFor(event: Pick<Event, "id">): Write<unknown>;
  /** Tells the channels that such steps have been committed. */
  committed(): void;
}

/** Where committed notifications go. */
export interface Channels {
  /** Whether an operator gateway takes notifications; without one the feed is their destination. */
  readonly hasGateway: boolean;
  wake(): void;
}

export function outbox(channels: Channels, makeId: MakeId, now: () => number): Outbox {
  function notification(eventId: Event["id"], message: Message): Notification {
    const madeAt = now();
    const createdAt = new Date(madeAt);
    return {
      ...message,
      id: makeId("ntf", madeAt),
      eventId,
      createdAt,
      // On the feed it stands as soon as it is committed: without a gateway it is then delivered.
      status: channels.hasGateway ? "pending" : "delivered",
      attemptCount: 0,
      dueAt: channels.hasGateway ? createdAt : null,
      deliveredAt: channels.hasGateway ? null : createdAt,
      lastError: null,
    };
  }
  return {
    stepsFor: ({ id }, messages) =>
      messages.map((message) =>
        write(insertNotification, { ...notification(id, message), leasedUntil: null }),
      ),
    againFor: ({ id }) => write(rescheduleUndelivered, { eventId: id, now: new Date(now()) }),
    committed: () => channels.wake(),
  };
}
