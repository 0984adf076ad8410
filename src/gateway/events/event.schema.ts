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
  provider: text("Who sent it.", "code_host"),
  type: text("What happened, in the product's own words.", "pull_request.opened"),
  status: word(eventStatuses, {
    description:
      "`accepted`: operators were told. `ignored`: not a type anyone asked for. `unreadable`: not JSON.",
  }),
  idempotencyKey: text("Provider and delivery id, or hash of the body.", "code_host:72d3162e"),
  occurredAt: instant({ description: "By the provider's word, else the time of receipt." }),
  createdAt: instant({ description: "When it was received." }),
  subject: nullable(text("Stable id of the thing it is about.", "pull_request/42")),
  title: text("One line to read.", "Pull request #42 opened"),
  url: nullable(text("Where to look at it.")),
  actor: nullable(text("Who did it, as a name or handle.", "octocat")),
  data: Type.Record(Type.String(), scalar, {
    description: "Named fields copied from the payload.",
  }),
};

const eventSchema = schemaOf<ListedEvent>()("Event", "What every provider's payload becomes.", {
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
  "How an event came in.",
  {
    receivedAt: instant({ description: "When it came." }),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        "Request headers by lower-case name: those that the provider reads, and those that are known to hold no secret.",
    }),
    address: text("The client's address.", "192.0.2.1"),
    signedWith: word(["current", "previous"], {
      description: "Which of the provider's secrets signed it.",
    }),
    bodyBytes: count("Bytes of the body.", 1024),
    duplicates: count("How often the same delivery came again.", 0),
  },
);

const notificationWithAttemptsSchema = schemaOf<NotificationWithAttempts>()(
  "NotificationWithAttempts",
  "A notification and every try to deliver it.",
  { ...notificationFields, attempts: listOf(attemptSchema, { description: "Oldest first." }) },
);

export const eventTimelineSchema = schemaOf<EventTimeline>()(
  "EventTimeline",
  "An event with all that happened to it.",
  {
    ...eventFields,
    receipt: nullable(receiptSchema, { description: "Null for events of Skyhook's own." }),
    body: nullable(text("The exact bytes received; null when no longer kept.", "{}")),
    bodyEncoding: word(["utf-8", "base64"], { description: "How `body` is to be read." }),
    notifications: listOf(notificationWithAttemptsSchema),
  },
);

export const eventParams = documented(Type.Object({ id: text("The event's id.") }));

export const eventListQuery = documented(
  Type.Object({
    ...pageParameters,
    include: Type.Optional(
      text(
        "`total` counts the list, `severity` says how grave each was; or both.",
        "severity",
        "total,severity",
      ),
    ),
    provider: Type.Optional(text("Only this provider's.")),
    type: Type.Optional(text("Only of this type.")),
    status: Type.Optional(word(eventStatuses, { description: "Only of this status." })),
  }),
);

export const replayQuery = documented(
  Type.Object({
    onlyUndelivered: Type.Optional(
      word(["true", "false"], {
        description: "true: nothing is told anew where nothing has failed.",
      }),
    ),
  }),
);
