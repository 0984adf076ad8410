import { Type } from "@sinclair/typebox";

import { type Context, requireOperator } from "../../base/context.ts";
import { bodyReader } from "../../base/validation.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event } from "../../event/event.ts";
import { compileFilter, type Filter, type FilterExplanation } from "../filters/filter.ts";
import type { Notification } from "../notification.ts";

import { filterError, filterSchema, invalid } from "./destination-input.ts";
import { newestNotifications } from "./filter-preview.sql.ts";

export const filterPreviewInputSchema = Type.Object(
  { filter: filterSchema },
  { $id: "FilterPreviewInput", description: "The filter to try." },
);

const readInput = bodyReader(filterPreviewInputSchema, "validation-failed");

/** What a filter does with the newest notifications. */
export interface FilterPreview {
  /** How many of `notifications` the filter delivers. */
  readonly delivered: number;
  /** Newest first. */
  readonly notifications: readonly PreviewedNotification[];
}

export interface PreviewedNotification
  extends
    Pick<Notification, "eventId" | "severity" | "createdAt">,
    Pick<Event, "provider" | "type" | "title"> {
  readonly notificationId: Notification["id"];
  /** Whether it would be delivered: it matches, or the filter cannot be evaluated for it. */
  readonly delivered: boolean;
  /** Why it does not match; null if it does. */
  readonly explanation: FilterExplanation | null;
  /** Why the filter cannot be evaluated; null if it can. */
  readonly error: string | null;
}

/**
 * Evaluates a filter on the newest notifications. For operators only. Throws `invalid-body`, and
 * `validation-failed` with the place of an error in the filter.
 */
export type PreviewFilter = (ctx: Context, body: unknown) => Promise<FilterPreview>;

/** The newest notifications that a filter is tried on. */
const maxPreviewed = 50;

export function filterPreview(storage: Storage): PreviewFilter {
  return async (ctx, body) => {
    requireOperator(ctx);
    const { filter: source } = readInput(body);
    const error = filterError(source);
    if (error !== null) throw invalid(...error);
    const filter = source === null ? null : compileFilter(source);
    const rows = await storage.all(newestNotifications, { limit: maxPreviewed });
    const notifications = rows.map((row) => previewed(filter, row));
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
