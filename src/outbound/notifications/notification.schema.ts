import { Type } from "@sinclair/typebox";

import { severities } from "../../event/new-notification.ts";
import { pageOf, pageParameters } from "../../web/rest/page.schema.ts";
import {
  count,
  documented,
  instant,
  nullable,
  prefixedId,
  schemaOf,
  text,
  word,
} from "../../web/schema.ts";
import { notificationStatuses } from "../notification-words.ts";
import type { Attempt, Notification } from "../notification.ts";

const notificationId = prefixedId("ntf_", {
  description: "Also the `webhook-id` of every delivery attempt.",
});

export const notificationFields = {
  id: notificationId,
  eventId: prefixedId("evt_", { description: "The event." }),
  createdAt: instant({ description: "Time of creation." }),
  title: text("A one-line summary.", "Deployment failed"),
  text: text("The details; may be empty."),
  url: nullable(text("Link to the resource.")),
  severity: word(severities, { description: "Severity of a notification." }),
  status: word(notificationStatuses, { description: "Its delivery status." }),
  attemptCount: count("Attempts since it was last scheduled.", 1),
  dueAt: nullable(instant(), {
    description: "When the next attempt is due; null if delivered or dead.",
  }),
  deliveredAt: nullable(instant(), { description: "Null unless delivered." }),
  lastError: nullable(text("Why the last attempt failed.")),
};

export const notificationSchema = schemaOf<Notification>()(
  "Notification",
  "One message to the operators about one event.",
  notificationFields,
);

export const notificationPageSchema = pageOf(notificationSchema);

export const attemptSchema = schemaOf<Attempt>()(
  "Attempt",
  "One attempt to deliver a notification to a destination.",
  {
    notificationId,
    destinationId: prefixedId("dst_", {
      description: "The destination.",
    }),
    startedAt: instant({ description: "Start of the attempt." }),
    durationMs: count("Duration in milliseconds.", 35),
    delivered: Type.Boolean({ description: "Whether the destination accepted it." }),
    responseStatus: nullable(
      count("The destination's HTTP status; null if it did not respond.", 200),
    ),
    error: nullable(text("What went wrong.")),
  },
);

export const notificationListQuery = documented(
  Type.Object({
    ...pageParameters,
    status: Type.Optional(
      word(notificationStatuses, { description: "Only notifications with this status." }),
    ),
  }),
);
