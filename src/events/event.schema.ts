import { Type } from "@sinclair/typebox";

import { eventStatuses } from "../event/event-words.ts";
import { severities } from "../event/new-notification.ts";
import { filterExplanationSchema } from "../outbound/filters/filter.ts";
import { deliveryStates, notificationStatuses } from "../outbound/notification-words.ts";
import { attemptSchema, notificationSchema } from "../outbound/notification.ts";
import { filterParameters } from "../web/filters.schema.ts";
import { pageOf, pageParameters } from "../web/rest/page.schema.ts";
import {
  count,
  documented,
  instant,
  listOf,
  nullable,
  prefixedId,
  schemaOf,
  text,
  word,
} from "../web/schema.ts";

import { eventFilters, streamFilters } from "./event-filters.ts";
import type {
  EventTimeline,
  ListedEvent,
  NotificationDelivery,
  NotificationWithAttempts,
} from "./events.ts";

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

const eventFields = {
  id: prefixedId("evt_", { description: "Sorts by time of receipt." }),
  provider: text("The provider that sent it.", "code_host"),
  type: text("What happened. For accepted events one of Skyhook's types.", "pull_request.opened"),
  status: word(eventStatuses, {
    description:
      "`accepted`: operators were notified. `ignored`: verified, but of a type that is not configured. `unreadable`: verified, but could not be parsed.",
  }),
  idempotencyKey: text("Provider and delivery id, or the hash of the body.", "code_host:72d3162e"),
  occurredAt: instant({ description: "The provider's time, otherwise the time of receipt." }),
  createdAt: instant({ description: "Time of receipt." }),
  subject: nullable(text("Stable id of the resource.", "pull_request/42")),
  title: text("A one-line summary.", "Pull request #42 opened"),
  url: nullable(text("Link to the resource.")),
  actor: nullable(text("Name or handle of who caused it.", "octocat")),
  data: Type.Record(Type.String(), scalar, {
    description: "Named fields copied from the payload.",
  }),
  recovered: Type.Boolean({
    description:
      "Whether it was read from the provider's log, because its delivery had not arrived.",
  }),
};

export const eventSchema = schemaOf<ListedEvent>()("Event", "A interpreted event.", {
  ...eventFields,
  severity: Type.Optional(
    nullable(word(severities), {
      description:
        "The highest severity of its notifications; null if it has none. Only with `include=severity`.",
    }),
  ),
  delivery: Type.Optional(
    word(deliveryStates, {
      description:
        "The worst status of its notifications: `dead`, `retrying`, `pending`, `delivered`; `none` without. A list has it only with `include=delivery`.",
    }),
  ),
});

export const eventPageSchema = pageOf(eventSchema);

const receiptSchema = schemaOf<NonNullable<EventTimeline["receipt"]>>()(
  "Receipt",
  "How an event was received.",
  {
    receivedAt: instant({ description: "Time of receipt." }),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        "Request headers by lower-case name: those that the provider reads and those known to hold no secret.",
    }),
    address: text(
      "The client's address. For a recovered event, the host of the provider's API.",
      "192.0.2.1",
    ),
    signedWith: nullable(word(["current", "previous"]), {
      description: "The secret that the signature matched; null for a recovered event.",
    }),
    bodyBytes: count("Size of the body in bytes.", 1024),
    duplicates: count("Number of duplicates received.", 0),
  },
);

const notificationDeliverySchema = schemaOf<NotificationDelivery>()(
  "NotificationDelivery",
  "What became of a notification at one destination.",
  {
    destinationId: prefixedId("dst_", {
      description: "The destination.",
    }),
    destination: text("The destination's name.", "deploys"),
    status: word([...notificationStatuses, "filtered"] as const, {
      description: "`filtered`: the destination's present filter does not match the event.",
    }),
    attemptCount: notificationSchema.properties.attemptCount,
    dueAt: notificationSchema.properties.dueAt,
    deliveredAt: notificationSchema.properties.deliveredAt,
    lastError: notificationSchema.properties.lastError,
    filtered: nullable(filterExplanationSchema, {
      description: "Why it was filtered, otherwise null.",
    }),
  },
);

const notificationWithAttemptsSchema = schemaOf<NotificationWithAttempts>()(
  "NotificationWithAttempts",
  "A notification with its delivery attempts.",
  {
    ...notificationSchema.properties,
    attempts: listOf(attemptSchema, { description: "Oldest first." }),
    deliveries: listOf(notificationDeliverySchema, {
      description: "One entry per destination of the operators.",
    }),
  },
);

export const eventTimelineSchema = schemaOf<EventTimeline>()(
  "EventTimeline",
  "An event with its receipt, body and notifications.",
  {
    ...eventFields,
    receipt: nullable(receiptSchema, { description: "Null for events that Skyhook creates." }),
    effect: nullable(
      text("What it changed in a booking, or why nothing.", "confirmed bk_019377b07d407000"),
      { description: "Null if it is not about a booking's payment." },
    ),
    body: nullable(text("The exact bytes received; null if no longer stored.", "{}")),
    bodyEncoding: word(["utf-8", "base64"], { description: "Encoding of `body`." }),
    notifications: listOf(notificationWithAttemptsSchema),
    delivery: word(deliveryStates, { description: "The worst status of its notifications." }),
  },
);

export const eventParams = documented(Type.Object({ id: text("The event's id.") }));

export const eventListQuery = documented(
  Type.Object({
    ...pageParameters,
    include: Type.Optional(
      text(
        "A list of these: `total` adds the number of events, `severity` and `delivery` those of each.",
        "severity",
        "total,severity",
      ),
    ),
    ...filterParameters(eventFilters),
  }),
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
        description: "true: sends only failed notifications again, and no new ones.",
      }),
    ),
  }),
);
