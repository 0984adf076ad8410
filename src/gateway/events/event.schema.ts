import { Type } from "@sinclair/typebox";

import { severities } from "../notification.ts";
import { attemptSchema, notificationFields } from "../notifications/notification.schema.ts";
import { pageOf, pageParameters } from "../../web/rest/page.schema.ts";
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
} from "../../web/rest/schema.ts";

import { type Event, eventStatuses } from "../event.ts";
import type { EventTimeline, ListedEvent, NotificationWithAttempts } from "./events.ts";

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

const eventFields = {
  id: prefixedId<Event["id"]>("evt_", { description: "Sorts by time of receipt." }),
  provider: text("The provider that sent it.", "code_host"),
  type: text("What happened. For accepted events one of Skyhook's types.", "pull_request.opened"),
  status: word(eventStatuses, {
    description:
      "`accepted`: operators were notified. `ignored`: not a listed type. `unreadable`: not JSON.",
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
};

const eventSchema = schemaOf<ListedEvent>()("Event", "A normalised event.", {
  ...eventFields,
  severity: Type.Optional(
    nullable(word(severities), {
      description:
        "The highest severity of its notifications; null if it has none. Only with `include=severity`.",
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
    address: text("The client's address.", "192.0.2.1"),
    signedWith: word(["current", "previous"], {
      description: "The secret that the signature matched.",
    }),
    bodyBytes: count("Size of the body in bytes.", 1024),
    duplicates: count("Number of duplicates received.", 0),
  },
);

const notificationWithAttemptsSchema = schemaOf<NotificationWithAttempts>()(
  "NotificationWithAttempts",
  "A notification with its delivery attempts.",
  { ...notificationFields, attempts: listOf(attemptSchema, { description: "Oldest first." }) },
);

export const eventTimelineSchema = schemaOf<EventTimeline>()(
  "EventTimeline",
  "An event with its receipt, body and notifications.",
  {
    ...eventFields,
    receipt: nullable(receiptSchema, { description: "Null for events that Skyhook creates." }),
    body: nullable(text("The exact bytes received; null if no longer stored.", "{}")),
    bodyEncoding: word(["utf-8", "base64"], { description: "Encoding of `body`." }),
    notifications: listOf(notificationWithAttemptsSchema),
  },
);

export const eventParams = documented(Type.Object({ id: text("The event's id.") }));

export const eventListQuery = documented(
  Type.Object({
    ...pageParameters,
    include: Type.Optional(
      text(
        "`total` adds the number of events, `severity` the severity of each; or both.",
        "severity",
        "total,severity",
      ),
    ),
    provider: Type.Optional(text("Only events of this provider.")),
    type: Type.Optional(text("Only events of this type.")),
    status: Type.Optional(word(eventStatuses, { description: "Only events with this status." })),
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
