import type { Static } from "@sinclair/typebox";

import { type Context, requireOperator } from "../../base/context.ts";
import { bodyReader, invalid } from "../../base/validation.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event } from "../../event/event.ts";
import { inputSchema } from "../../web/input.ts";
import { count, flag, listOf, nullable, prefixedId, resource, text } from "../../web/schema.ts";
import type { IsOwnService } from "../deliveries/destination-cache.ts";
import {
  compileFilter,
  type Filter,
  filterExplanationSchema,
  filterFor,
} from "../filters/filter.ts";
import { destinationFields } from "../model/destination-fields.ts";
import { type Notification, notificationSchema } from "../model/notification.ts";

import { filterError } from "./destination-input.ts";
import { newestNotifications } from "./filter-preview.sql.ts";

export const filterPreviewInputSchema = inputSchema(
  {
    filter: { ...destinationFields.filter, isOptional: false },
    format: { ...destinationFields.format, isOptional: true },
    url: { ...destinationFields.url, isOptional: true },
  },
  { $id: "FilterPreviewInput", description: "The filter to try, and for which destination." },
);

const readInput = bodyReader(filterPreviewInputSchema, "validation-failed");

const { eventId, severity, createdAt, title } = notificationSchema.properties;

const previewedNotificationSchema = resource(
  "PreviewedNotification",
  "What a filter does with one notification.",
  {
    notificationId: prefixedId("ntf_", "The notification."),
    eventId,
    severity,
    createdAt,
    provider: text("The provider of the event.", "deploy_platform"),
    type: text("The type of the event.", "deploy.error"),
    title,
    delivered: flag("Whether it matches, or the filter cannot be evaluated for it."),
    explanation: nullable(filterExplanationSchema, "Why it does not match; null if it does."),
    error: nullable(text("Why the filter cannot be evaluated; null if it can.")),
  },
);

export interface PreviewedNotification extends Static<typeof previewedNotificationSchema> {}

export const filterPreviewSchema = resource(
  "FilterPreview",
  "What a filter does with the newest notifications.",
  {
    delivered: count("How many of `notifications` are delivered.", 12),
    notifications: listOf(previewedNotificationSchema, "The newest 50, newest first."),
  },
);

export interface FilterPreview extends Static<typeof filterPreviewSchema> {}

/**
 * Evaluates a filter on the newest notifications. For operators only. Throws `invalid-body`, and
 * `validation-failed` with the place of an error in the filter.
 */
export type PreviewFilter = (ctx: Context, body: unknown) => Promise<FilterPreview>;

/** The newest notifications that a filter is tried on. */
const maxPreviewed = 50;

export function filterPreview(storage: Storage, isOwnService: IsOwnService): PreviewFilter {
  return async (ctx, body) => {
    requireOperator(ctx);
    const { filter: source, format = "json", url = "" } = readInput(body);
    const error = filterError(source);
    if (error !== null) throw invalid(...error);
    const filter = source === null ? null : compileFilter(source);
    const rows = await storage.all(newestNotifications, { limit: maxPreviewed });
    const notifications = rows.map((row) => {
      const isOwn = isOwnService({ format, url }, row.provider);
      return previewed(filterFor(filter, row.provider, isOwn), row);
    });
    const delivered = notifications.filter((each) => each.delivered).length;
    return { delivered, notifications };
  };
}

type Row = Pick<Notification, "id" | "eventId" | "severity" | "createdAt"> &
  Pick<Event, "provider" | "type" | "subject" | "title" | "actor" | "data">;

function previewed(filter: Filter | null, row: Row): PreviewedNotification {
  const { id: notificationId, eventId, severity, createdAt, provider, type, title } = row;
  const result = filter?.match(row) ?? { matches: true };
  const delivered = "error" in result || result.matches;
  return {
    notificationId,
    eventId,
    severity,
    createdAt,
    provider,
    type,
    title,
    delivered,
    explanation: delivered ? null : (filter?.explain(row) ?? null),
    error: "error" in result ? result.error : null,
  };
}
