import { defineTable } from "../db/table.ts";
import type { Event } from "../event/event.ts";

import type { Destination } from "./destination.ts";
import type { Notification } from "./notification.ts";

/** One notification on its way to one destination. */
export interface OutgoingDelivery extends Pick<
  Notification,
  "status" | "attemptCount" | "dueAt" | "deliveredAt" | "lastError"
> {
  readonly id: `dlv_${string}`;
  readonly destinationId: Destination["id"];
  readonly notificationId: Notification["id"];
  readonly eventId: Event["id"];
  readonly createdAt: Date;
}

/** A delivery with what its notification says. */
export interface DeliveryWithTitle
  extends OutgoingDelivery, Pick<Notification, "title" | "severity"> {}

/** A delivery as stored. */
export interface StoredDelivery extends OutgoingDelivery {
  /** Increases with every commit. Deliveries with the same order key are sent in this order. */
  readonly seq: number;
  /** As in the destination. Deliveries to users do not count for the notification's status. */
  readonly ownerId: string | null;
  /** Null: in any order. */
  readonly orderKey: string | null;
  /** Until then it is leased to one process, and no other sends it. */
  readonly leasedUntil: Date | null;
  /** It is not due before an earlier delivery with its order key is settled. */
  readonly blocked: boolean;
  /** The delivery before it with its order key died after its last attempt. It is attempted once. */
  readonly afterDead: boolean;
}

export const deliveriesTable = defineTable<StoredDelivery>("deliveries", {
  seq: "bigint",
  id: "text",
  destinationId: "text",
  notificationId: "text",
  eventId: "text",
  ownerId: "text or null",
  createdAt: "instant",
  orderKey: "text or null",
  status: "text",
  attemptCount: "integer",
  dueAt: "instant or null",
  leasedUntil: "instant or null",
  deliveredAt: "instant or null",
  lastError: "text or null",
  blocked: "boolean",
  afterDead: "boolean",
});
