import { type Static, Type } from "@sinclair/typebox";

import { eventFields, receiptFields } from "../event/event.ts";
import { severities } from "../event/new-notification.ts";
import { filterExplanationSchema } from "../outbound/filters/filter.ts";
import { deliveryStates, notificationStatuses } from "../outbound/model/notification-words.ts";
import { attemptSchema, notificationSchema } from "../outbound/model/notification.ts";
import { filterParameters } from "../web/filters.schema.ts";
import { pageOf } from "../web/page.schema.ts";
import {
  documented,
  instant,
  listOf,
  nullable,
  prefixedId,
  resource,
  text,
  word,
} from "../web/schema.ts";

import { streamFilters } from "./event-filters.ts";

const eventSchema = resource("Event", "An interpreted event.", {
  ...eventFields,
  severity: Type.Optional(
    nullable(
      word(severities),
      "The highest severity of its notifications; null if it has none. Only with `include=severity`.",
    ),
  ),
  delivery: Type.Optional(
    word(
      deliveryStates,
      "The worst status of its notifications: `dead`, `retrying`, `pending`, `delivered`; `none` without. A list has it only with `include=delivery`.",
    ),
  ),
});

export interface ListedEvent extends Static<typeof eventSchema> {}

export const eventPageSchema = pageOf(eventSchema);

const receiptSchema = resource("Receipt", "How an event was received.", {
  receivedAt: instant("Time of receipt."),
  ...receiptFields,
});

const { attemptCount, dueAt, deliveredAt, lastError } = notificationSchema.properties;

const notificationDeliverySchema = resource(
  "NotificationDelivery",
  "What became of a notification at one destination.",
  {
    destinationId: prefixedId("dst_", "The destination."),
    destination: text("The destination's name.", "deploys"),
    status: word(
      [...notificationStatuses, "filtered"],
      "`filtered`: the destination's present filter does not match the event.",
    ),
    attemptCount,
    dueAt,
    deliveredAt,
    lastError,
    filtered: nullable(filterExplanationSchema, "Why it was filtered, otherwise null."),
  },
);

export interface NotificationDelivery extends Static<typeof notificationDeliverySchema> {}

const notificationWithAttemptsSchema = resource(
  "NotificationWithAttempts",
  "A notification with its delivery attempts.",
  {
    ...notificationSchema.properties,
    attempts: listOf(attemptSchema, "Oldest first."),
    deliveries: listOf(notificationDeliverySchema, "One entry per destination of the operators."),
  },
);

export const eventTimelineSchema = resource(
  "EventTimeline",
  "An event with its receipt, body and notifications.",
  {
    ...eventFields,
    receipt: nullable(receiptSchema, "Null for events that Skyhook creates."),
    previousItem: nullable(
      prefixedId("evt_", "The event of the item before it."),
      "Null if that item was not stored with it.",
    ),
    nextItem: nullable(
      prefixedId("evt_", "The event of the item after it."),
      "Null if that item was not stored with it.",
    ),
    effect: nullable(
      text("What it changed in a booking, or why nothing.", "confirmed bk_019377b07d407000"),
      "Null if it is not about a booking's payment.",
    ),
    body: nullable(text("The exact bytes received; null if no longer stored.", "{}")),
    bodyEncoding: word(["utf-8", "base64"], "Encoding of `body`."),
    notifications: listOf(notificationWithAttemptsSchema),
    delivery: word(deliveryStates, "The worst status of its notifications."),
  },
);

export interface EventTimeline extends Static<typeof eventTimelineSchema> {}

export const eventParams = documented(
  Type.Object({ id: text("The event's id.", "evt_019377b07d4070008000000000000001") }),
);

export const eventStreamQuery = documented(
  Type.Object({
    ...filterParameters(streamFilters),
    include: Type.Optional(text("`body`: webhooks only, with receipt and body.", "body")),
  }),
);

export const replayQuery = documented(
  Type.Object({
    onlyUndelivered: Type.Optional(
      word(["true", "false"], {
        description: "true: sends nothing again that was delivered.",
      }),
    ),
  }),
);
