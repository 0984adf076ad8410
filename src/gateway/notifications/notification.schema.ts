import { Type } from "@sinclair/typebox";

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
} from "../../web/rest/schema.ts";

import { type Attempt, type Notification, notificationStatuses } from "../notification.ts";

const notificationId = prefixedId<Notification["id"]>("ntf_", {
  description: "Also the `webhook-id` of every delivery attempt.",
});

export const notificationFields = {
  id: notificationId,
  eventId: prefixedId<Notification["eventId"]>("evt_", { description: "What it is about." }),
  createdAt: instant({ description: "When it was made." }),
  title: text("One line to read.", "Deployment failed"),
  text: text("What there is to know."),
  url: nullable(text("Where to look at it.")),
  severity: word(["info", "success", "warning", "error"]),
  status: word(notificationStatuses, { description: "Where its delivery stands." }),
  attemptCount: count("Attempts made since it was last armed.", 1),
  dueAt: nullable(instant(), { description: "When the next attempt is due; null when settled." }),
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
  "One try to hand a notification to the operator gateway.",
  {
    notificationId,
    startedAt: instant({ description: "When it began." }),
    durationMs: count("Milliseconds it took.", 35),
    delivered: Type.Boolean({ description: "Whether the gateway took it." }),
    responseStatus: nullable(count("The gateway's HTTP status; null when no answer came.", 200)),
    error: nullable(text("What went wrong.")),
  },
);

export const notificationListQuery = documented(
  Type.Object({
    ...pageParameters,
    status: Type.Optional(word(notificationStatuses, { description: "Only of this status." })),
  }),
);
