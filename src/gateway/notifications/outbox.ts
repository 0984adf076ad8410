import type { Event } from "../event.ts";
import type { MakeId } from "../../base/ids.ts";
import { insertNotification, rescheduleUndelivered } from "./notifications.sql.ts";
import { type Write, write } from "../../db/statement.ts";

import type { Message, Notification } from "../notification.ts";

/** Stores notifications for the channels, in the transaction of their event. */
export interface Outbox {
  /** The writes that store one notification per message, for the transaction of the event. */
  writesFor(event: Pick<Event, "id">, messages: readonly Message[]): Write<never>[];
  /** The write that sends an event's failed notifications again, at once and under their own ids. */
  rescheduleFor(event: Pick<Event, "id">): Write<unknown>;
  /** Wakes the channels after such a write was committed. */
  committed(): void;
}

/** The destinations of committed notifications. */
export interface Channels {
  /** Whether an operator gateway is configured. Without one, the feed is the destination. */
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
      // Without a gateway, a notification is delivered once committed, because it is in the feed.
      status: channels.hasGateway ? "pending" : "delivered",
      attemptCount: 0,
      dueAt: channels.hasGateway ? createdAt : null,
      deliveredAt: channels.hasGateway ? null : createdAt,
      lastError: null,
    };
  }
  return {
    writesFor: ({ id }, messages) =>
      messages.map((message) =>
        write(insertNotification, { ...notification(id, message), leasedUntil: null }),
      ),
    rescheduleFor: ({ id }) => write(rescheduleUndelivered, { eventId: id, now: new Date(now()) }),
    committed: () => channels.wake(),
  };
}
