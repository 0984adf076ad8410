import type { MakeId } from "../../base/ids.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Destination } from "../destination.ts";
import type { Recipient, Targets } from "../destinations/targets.ts";
import type { Event } from "../event.ts";
import type { Message, Notification } from "../notification.ts";
import type { StoredDelivery } from "../outgoing-delivery.ts";

import { insertDelivery, rescheduleDead, rescheduleUndelivered } from "./deliveries.sql.ts";
import { insertNotification, summaryWrites } from "./notifications.sql.ts";

/** Stores notifications and their deliveries, in the transaction of their event. */
export interface Outbox {
  /**
   * The writes that store one notification per message and one delivery per destination that it matches, for
   * the transaction of the event. `ownerId`: the owner of the booking that the event is about. `alert`: the
   * event is about Skyhook itself. `isExcluded`: a destination that does not receive it.
   */
  writesFor(event: Event, messages: readonly Message[], options?: WriteOptions): Write<never>[];
  /** The writes that send an event's failed deliveries again, at once. `only`: dead ones, or all. */
  rescheduleFor(event: Pick<Event, "id">, only: "dead" | "undelivered"): Write<unknown>[];
  /**
   * Wakes the channels after an event or such a write was committed. `event`: that of `writesFor`; missing:
   * wakes all.
   */
  committed(event?: Event): void;
}

interface WriteOptions {
  readonly ownerId?: string;
  readonly alert?: boolean;
  readonly isExcluded?: (id: Destination["id"]) => boolean;
}

/** Wakes who sends. */
interface Channels {
  /** `destinations`: those with new deliveries; null for all. */
  wake(destinations: ReadonlySet<Destination["id"]> | null): void;
}

export function outbox(
  channels: Channels,
  targets: Pick<Targets, "recipientsOf">,
  makeId: MakeId,
  now: () => number,
): Outbox {
  /** The destinations with deliveries of an event. */
  const sentTo = new WeakMap<Event, Set<Destination["id"]>>();

  function notification(event: Event, message: Message, isPending: boolean): Notification {
    const madeAt = now();
    const createdAt = new Date(madeAt);
    return {
      ...message,
      id: makeId("ntf", madeAt),
      eventId: event.id,
      createdAt,
      // Without a destination, a notification is delivered once committed, because it is in the feed.
      status: isPending ? "pending" : "delivered",
      attemptCount: 0,
      dueAt: isPending ? createdAt : null,
      deliveredAt: isPending ? null : createdAt,
      lastError: null,
    };
  }

  function delivery(
    { id, eventId, createdAt }: Notification,
    { destination, orderKey }: Recipient,
  ): Omit<StoredDelivery, "seq"> {
    return {
      id: makeId("dlv", createdAt.getTime()),
      destinationId: destination.id,
      notificationId: id,
      eventId,
      ownerId: destination.ownerId,
      createdAt,
      orderKey,
      status: "pending",
      attemptCount: 0,
      dueAt: createdAt,
      leasedUntil: null,
      deliveredAt: null,
      lastError: null,
    };
  }

  return {
    writesFor(event, messages, { ownerId = null, alert = false, isExcluded } = {}) {
      const ids = sentTo.get(event) ?? new Set();
      sentTo.set(event, ids);
      return messages.flatMap((message) => {
        const recipients = targets
          .recipientsOf(event, message, { ownerId, alert })
          .filter(({ destination }) => isExcluded?.(destination.id) !== true);
        const isPending = recipients.some(({ destination }) => destination.ownerId === null);
        const made = notification(event, message, isPending);
        for (const { destination } of recipients) ids.add(destination.id);
        return [
          write(insertNotification, made),
          ...recipients.map((recipient) => write(insertDelivery, delivery(made, recipient))),
        ];
      });
    },
    rescheduleFor({ id: eventId }, only) {
      const reschedule = only === "dead" ? rescheduleDead : rescheduleUndelivered;
      return [write(reschedule, { eventId, now: new Date(now()) }), ...summaryWrites(eventId)];
    },
    committed(event) {
      channels.wake(event === undefined ? null : (sentTo.get(event) ?? null));
    },
  };
}
