import type { MakeId } from "../../base/ids.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import { storeDeliveries, undeliveredOf } from "../deliveries.sql.ts";
import { linesAgain } from "../delivery-order.sql.ts";
import type { StoredDelivery } from "../delivery.ts";
import type { Destination } from "../destination.ts";
import { undeliveredStatuses } from "../notification-words.ts";
import type { Notification } from "../notification.ts";
import { insertNotification, summaryWrites } from "../notifications.sql.ts";

import type { DestinationCache, Match } from "./destination-cache.ts";
import { rescheduleDead, rescheduleUndelivered } from "./retry-all.sql.ts";

/** Stores notifications and their deliveries, in the transaction of their event. */
export interface Outbox {
  /**
   * The writes that store these notifications, and one delivery of each per destination that it matches, for
   * the transaction of the event. `ownerId`: the owner of the booking that the event is about. `alert`: the
   * event is about Skyhook itself. `isExcluded`: a destination that does not receive it. `whole`: for an event with a
   * stored request, the destinations that receive it for an item before this one.
   */
  writesFor(
    event: Event,
    notifications: readonly NewNotification[],
    options?: WriteOptions,
  ): Write<never>[];
  /**
   * The writes that send an event's failed deliveries again, at once. `only`: dead ones, or all. The first write
   * returns how many; none without such deliveries.
   */
  rescheduleFor(
    event: Pick<Event, "id">,
    only: "dead" | "undelivered",
  ): Promise<readonly Write<unknown>[]>;
  /** Wakes the event's destinations after such writes were committed. `event`: the same object. */
  committed(event: Pick<Event, "id">): void;
  /** Wakes a destination after its deliveries were rescheduled. */
  rescheduled(id: Destination["id"]): void;
}

export interface WriteOptions {
  readonly ownerId?: string;
  readonly alert?: boolean;
  readonly isExcluded?: (id: Destination["id"]) => boolean;
  readonly whole?: Set<Destination["id"]> | undefined;
}

const reschedules = {
  dead: [rescheduleDead, ["dead"]],
  undelivered: [rescheduleUndelivered, undeliveredStatuses],
} as const;

interface Parts {
  readonly storage: Storage;
  /** Wakes who sends. `destinations`: those with new deliveries; null for all. */
  readonly wake: (destinations: ReadonlySet<Destination["id"]> | null) => void;
  readonly destinations: Pick<DestinationCache, "matching">;
  readonly makeId: MakeId;
  readonly now: () => number;
}

export function outbox({ storage, wake, destinations, makeId, now }: Parts): Outbox {
  /** The destinations with deliveries of an event. */
  const sentTo = new WeakMap<Pick<Event, "id">, Set<Destination["id"]>>();

  function sentToOf(event: Pick<Event, "id">): Set<Destination["id"]> {
    const ids = sentTo.get(event) ?? new Set();
    sentTo.set(event, ids);
    return ids;
  }

  function notification(event: Event, one: NewNotification, isPending: boolean): Notification {
    const madeAt = now();
    const createdAt = new Date(madeAt);
    return {
      ...one,
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
    { destination, orderKey }: Match,
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
      blocked: orderKey !== null,
      afterDead: false,
    };
  }

  return {
    writesFor(event, notifications, { ownerId = null, alert = false, isExcluded, whole } = {}) {
      const ids = sentToOf(event);
      return notifications.flatMap((one) => {
        const matches = destinations
          .matching(event, one, { ownerId, alert, whole })
          .filter(({ destination }) => isExcluded?.(destination.id) !== true);
        const isPending = matches.some(({ destination }) => destination.ownerId === null);
        const made = notification(event, one, isPending);
        for (const { destination } of matches) ids.add(destination.id);
        return [
          write(insertNotification, made),
          ...storeDeliveries(matches.map((match) => delivery(made, match))),
        ];
      });
    },
    async rescheduleFor(event, only) {
      const [reschedule, statuses] = reschedules[only];
      const undelivered = await storage.all(undeliveredOf, { eventId: event.id });
      const failed = undelivered.filter(({ status }) => statuses.some((each) => each === status));
      if (failed.length === 0) return [];
      const ids = sentToOf(event);
      for (const { destinationId } of failed) ids.add(destinationId);
      const seqs = failed.map(({ seq }) => seq);
      const at = new Date(now());
      return [
        write(reschedule, { seqs, now: at }),
        ...linesAgain(failed, at),
        ...summaryWrites([event.id]),
      ];
    },
    committed(event) {
      wake(sentTo.get(event) ?? null);
    },
    rescheduled(id) {
      wake(new Set([id]));
    },
  };
}
