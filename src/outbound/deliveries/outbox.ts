import { positionIn } from "../../base/ids.ts";
import { Place } from "../../db/place.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event, EventContent } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import { type NewDelivery, storeDeliveries, undeliveredOf } from "../model/deliveries.sql.ts";
import { reorder } from "../model/delivery-order.sql.ts";
import type { Destination } from "../model/destination.ts";
import { undeliveredStatuses } from "../model/notification-words.ts";
import { insertNotification, type PlacedNotification } from "../model/notifications.sql.ts";

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
    event: NotifiedEvent,
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
  committed(event: object): void;
  /** Wakes a destination after its deliveries were rescheduled. */
  rescheduled(id: Destination["id"]): void;
}

/** An event that operators are notified of, where it is or will be stored. */
export interface NotifiedEvent extends EventContent {
  readonly place: Place | number;
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
  readonly now: () => number;
}

export function outbox({ storage, wake, destinations, now }: Parts): Outbox {
  /** The destinations with deliveries of an event. */
  const sentTo = new WeakMap<object, Set<Destination["id"]>>();

  function sentToOf(event: object): Set<Destination["id"]> {
    const ids = sentTo.get(event) ?? new Set();
    sentTo.set(event, ids);
    return ids;
  }

  function notification(
    { place }: NotifiedEvent,
    one: NewNotification,
    isFirst: boolean,
  ): PlacedNotification {
    return {
      ...one,
      position: isFirst && place instanceof Place ? place : new Place(now()),
      event: place,
    };
  }

  function delivery(
    { position, event }: PlacedNotification,
    { destination, orderKey }: Match,
  ): NewDelivery {
    return {
      event,
      notification: position,
      destination: destination.number,
      ownerId: destination.ownerId,
      orderKey,
      status: "pending",
      attemptCount: 0,
      dueAt: new Date(now()),
      leasedUntil: null,
      deliveredAt: null,
      lastError: null,
      startedAt: null,
      durationMs: null,
      responseStatus: null,
      blocked: orderKey !== null,
      afterDead: false,
    };
  }

  return {
    writesFor(event, notifications, { ownerId = null, alert = false, isExcluded, whole } = {}) {
      const ids = sentToOf(event);
      return notifications.flatMap((one, index) => {
        const matches = destinations
          .matching(event, one, { ownerId, alert, whole })
          .filter(({ destination }) => isExcluded?.(destination.id) !== true);
        const made = notification(event, one, index === 0);
        for (const { destination } of matches) ids.add(destination.id);
        return [
          write(insertNotification, made),
          ...storeDeliveries(matches.map((match) => delivery(made, match))),
        ];
      });
    },
    async rescheduleFor(event, only) {
      const [reschedule, statuses] = reschedules[only];
      const undelivered = await storage.all(undeliveredOf, { event: positionIn(event.id) });
      const failed = undelivered.filter(({ status }) => statuses.some((each) => each === status));
      if (failed.length === 0) return [];
      const ids = sentToOf(event);
      for (const { destinationId } of failed) ids.add(destinationId);
      const at = new Date(now());
      return [write(reschedule, { deliveries: failed, now: at }), ...reorder(failed, at)];
    },
    committed(event) {
      wake(sentTo.get(event) ?? null);
    },
    rescheduled(id) {
      wake(new Set([id]));
    },
  };
}
