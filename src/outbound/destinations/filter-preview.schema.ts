import { Type } from "@sinclair/typebox";

import { count, listOf, nullable, prefixedId, schemaOf, text } from "../../web/schema.ts";
import { notificationFields } from "../notifications/notification.schema.ts";

import { filterExplanationSchema } from "./destination.schema.ts";
import type { FilterPreview, PreviewedNotification } from "./filter-preview.ts";

const { eventId, severity, createdAt, title } = notificationFields;

const previewedNotificationSchema = schemaOf<PreviewedNotification>()(
  "PreviewedNotification",
  "What a filter does with one notification.",
  {
    notificationId: prefixedId("ntf_", {
      description: "The notification.",
    }),
    eventId,
    severity,
    createdAt,
    provider: text("The provider of the event.", "deploy_platform"),
    type: text("The type of the event.", "deploy.error"),
    title,
    delivered: Type.Boolean({
      description: "Whether it matches, or the filter cannot be evaluated for it.",
    }),
    explanation: nullable(filterExplanationSchema, {
      description: "Why it does not match; null if it does.",
    }),
    error: nullable(text("Why the filter cannot be evaluated; null if it can.")),
  },
);

export const filterPreviewSchema = schemaOf<FilterPreview>()(
  "FilterPreview",
  "What a filter does with the newest notifications.",
  {
    delivered: count("How many of `notifications` are delivered.", 12),
    notifications: listOf(previewedNotificationSchema, {
      description: "The newest 50, newest first.",
    }),
  },
);
