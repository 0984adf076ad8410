import { defineTable, type Stored } from "../../db/table.ts";
import { instant, type Of, prefixedId } from "../../web/schema.ts";

import { notificationSchema } from "./notification.ts";

const { status, attemptCount, dueAt, deliveredAt, lastError, eventId, title, severity } =
  notificationSchema.properties;

export const shownFields = {
  id: prefixedId("dlv_", "The delivery's id."),
  destinationId: prefixedId("dst_", "The destination."),
  notificationId: prefixedId("ntf_", "The notification."),
  eventId,
  createdAt: instant("Time of creation."),
  status,
  attemptCount,
  dueAt,
  deliveredAt,
  lastError,
};

/** One notification on its way to one destination. */
export interface OutgoingDelivery extends Of<typeof shownFields> {}

/** With the title and severity of its notification. */
export const deliveryFields = { ...shownFields, title, severity };

export interface DeliveryWithTitle extends Of<typeof deliveryFields> {}

const {
  id: _,
  destinationId: __,
  notificationId: ___,
  eventId: ____,
  createdAt: _____,
  ...ownFields
} = shownFields;

export const deliveriesTable = defineTable(
  "deliveries",
  {
    /**
     * The positions of its event and of its notification, and the number of its destination: its key. Two of them make up
     * the id. Deliveries with the same order key are sent in the order of their notifications.
     */
    event: "bigint",
    notification: "bigint",
    destination: "bigint",
    ...ownFields,
    /** As in the destination. Deliveries to users do not count for the notification's status. */
    ownerId: "text or null: pseudonym",
    /** Null: in any order. */
    orderKey: "text or null: text",
    /** Those of the attempt that succeeded. */
    startedAt: "instant or null",
    durationMs: "integer or null",
    responseStatus: "integer or null",
    /** Until then it is leased to one process, and no other sends it. */
    leasedUntil: "instant or null",
    /** It is not due before an earlier delivery with its order key is settled. */
    blocked: "boolean",
    /** The delivery before it with its order key died after its last attempt. It is attempted once. */
    afterDead: "boolean",
  },
  ["event", "notification", "destination"],
);

export interface StoredDelivery extends Stored<typeof deliveriesTable> {}

/** What identifies a delivery. */
export type DeliveryKey = Pick<StoredDelivery, "event" | "notification" | "destination">;
