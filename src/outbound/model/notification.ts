import type { Static } from "@sinclair/typebox";

import { defineTable, personal, type Stored } from "../../db/table.ts";
import { severities } from "../../event/new-notification.ts";
import {
  count,
  flag,
  instant,
  nullable,
  prefixedId,
  resource,
  text,
  word,
} from "../../web/schema.ts";

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
    title: personal("text", text("A one-line summary.", "Deployment failed")),
    text: personal("text", text("The details; may be empty.")),
    url: personal("text", nullable(text("Link to the resource."))),
    severity: word(severities, "Severity of a notification."),
    status: word(notificationStatuses, "Its delivery status."),
    // Of the destination with the most. An attempt that a stop or crash interrupts does not count, nor does a failed
    // probe before the time of the next attempt.
    attemptCount: count("Attempts since it was last scheduled.", 1),
    dueAt: nullable(instant(), "When the next attempt is due; null if delivered or dead."),
    deliveredAt: nullable(instant(), "Null unless delivered."),
    lastError: personal("text", nullable(text("Why the last attempt failed."))),
  },
);

export interface Notification extends Static<typeof notificationSchema> {}

const { title, text: details, url, severity } = notificationSchema.properties;

export const notificationsTable = defineTable(
  "notifications",
  {
    /** Its place in the feed, and the order of lists: that of its event, or a later one. It makes up the id. */
    position: "bigint",
    /** The position of the event. */
    event: "bigint",
    title,
    text: details,
    url,
    severity,
  },
  ["position"],
);

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
    error: personal("none", nullable(text("What went wrong."))),
  },
);

export interface Attempt extends Static<typeof attemptSchema> {}

const { startedAt, durationMs, responseStatus, error } = attemptSchema.properties;

/** The attempts that failed. The one that succeeded is stored in the delivery. */
export const failedAttemptsTable = defineTable("failed_attempts", {
  /** The position of the notification, and the number of the destination. */
  notification: "bigint",
  destination: "bigint",
  startedAt,
  durationMs,
  responseStatus,
  error,
});

export interface FailedAttempt extends Stored<typeof failedAttemptsTable> {}
