import type { Static } from "@sinclair/typebox";

import { defineTable, type Stored } from "../db/table.ts";
import { severities } from "../event/new-notification.ts";
import { count, flag, instant, nullable, prefixedId, resource, text, word } from "../web/schema.ts";

import { notificationStatuses } from "./notification-words.ts";

export type NotificationStatus = (typeof notificationStatuses)[number];

const id = prefixedId("ntf_", "Also the `webhook-id` of every delivery attempt.");

/**
 * Its status sums up its deliveries to the operators' destinations: `dead` if one is dead, otherwise `retrying`,
 * otherwise `pending`, otherwise `delivered`.
 */
export const notificationSchema = resource(
  "Notification",
  "One message to the operators about one event.",
  {
    id,
    eventId: prefixedId("evt_", "The event."),
    createdAt: instant("Time of creation."),
    title: text("A one-line summary.", "Deployment failed"),
    text: text("The details; may be empty."),
    url: nullable(text("Link to the resource.")),
    severity: word(severities, "Severity of a notification."),
    status: word(notificationStatuses, "Its delivery status."),
    // Of the destination with the most. An attempt that a stop or crash interrupts does not count, nor does a failed
    // probe before the time of the next attempt.
    attemptCount: count("Attempts since it was last scheduled.", 1),
    dueAt: nullable(instant(), "When the next attempt is due; null if delivered or dead."),
    deliveredAt: nullable(instant(), "Null unless delivered."),
    lastError: nullable(text("Why the last attempt failed.")),
  },
);

export interface Notification extends Static<typeof notificationSchema> {}

export const notificationsTable = defineTable("notifications", {
  /** Increases with every commit: the feed's position, independent of clocks. */
  seq: "bigint",
  ...notificationSchema.properties,
});

export interface StoredNotification extends Stored<typeof notificationsTable> {}

export const attemptSchema = resource(
  "Attempt",
  "One attempt to deliver a notification to a destination.",
  {
    notificationId: id,
    destinationId: prefixedId("dst_", "The destination."),
    startedAt: instant("Start of the attempt."),
    durationMs: count("Duration in milliseconds.", 35),
    delivered: flag("Whether the destination accepted it."),
    responseStatus: nullable(
      count("The destination's HTTP status; null if it did not respond.", 200),
    ),
    error: nullable(text("What went wrong.")),
  },
);

export interface Attempt extends Static<typeof attemptSchema> {}

export const attemptsTable = defineTable("attempts", attemptSchema.properties);

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delay before each retry, in milliseconds. If the last retry fails, the notification is dead. */
export const retryDelaysMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  6 * hour,
] as const;

/** The longest delay that the gateway's `Retry-After` can cause. Longer than every delay of the schedule. */
export const longestRetryAfterMs = 24 * hour;

/**
 * Milliseconds until the next attempt, or null if none is left. `attempts`: attempts made so far.
 * Adds up to 10 % of jitter, so that a recovering gateway does not get all retries at once. A longer
 * `Retry-After` takes precedence (RFC 9110 section 10.2.3), capped at 24 h. `random` is in [0, 1).
 */
export function nextRetryMs(
  attempts: number,
  retryAfterMs: number | null,
  random: number,
): number | null {
  const delayMs = retryDelaysMs[attempts - 1];
  if (delayMs === undefined) return null;
  const jitteredMs = Math.round(delayMs * (1 + random / 10));
  return Math.max(jitteredMs, Math.min(retryAfterMs ?? 0, longestRetryAfterMs));
}
