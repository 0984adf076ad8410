import { defineTable } from "../db/table.ts";
import type { NewNotification } from "../event/new-notification.ts";

import type { Destination } from "./destination.ts";
import type { notificationStatuses } from "./notification-words.ts";

export type NotificationStatus = (typeof notificationStatuses)[number];

/**
 * One message to the operators about one event. Its status sums up its deliveries to the operators'
 * destinations: `dead` if one is dead, otherwise `retrying`, otherwise `pending`, otherwise `delivered`.
 */
export interface Notification extends NewNotification {
  /** `ntf_` and a UUIDv7. Sent as the `webhook-id` of every delivery attempt. */
  readonly id: `ntf_${string}`;
  readonly eventId: `evt_${string}`;
  readonly createdAt: Date;
  readonly status: NotificationStatus;
  /** The most delivery attempts to one destination since it was last scheduled. An attempt that a stop or crash interrupts does not count, nor does a failed probe before the time of the next attempt. */
  readonly attemptCount: number;
  /** When the next attempt is due; null when settled. */
  readonly dueAt: Date | null;
  readonly deliveredAt: Date | null;
  /** Why the last attempt failed. Shown to operators. */
  readonly lastError: string | null;
}

/** A notification as stored. */
export interface StoredNotification extends Notification {
  /** Increases with every commit: the feed's position, independent of clocks. */
  readonly seq: number;
}

export const notificationsTable = defineTable<StoredNotification>("notifications", {
  seq: "bigint",
  id: "text",
  eventId: "text",
  createdAt: "instant",
  title: "text",
  text: "text",
  url: "text or null",
  severity: "text",
  status: "text",
  attemptCount: "integer",
  dueAt: "instant or null",
  deliveredAt: "instant or null",
  lastError: "text or null",
});

/** One attempt to deliver a notification to a destination. */
export interface Attempt {
  readonly notificationId: `ntf_${string}`;
  readonly destinationId: Destination["id"];
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly delivered: boolean;
  /** The destination's HTTP status, or null if it did not respond. */
  readonly responseStatus: number | null;
  readonly error: string | null;
}

export const attemptsTable = defineTable<Attempt>("attempts", {
  notificationId: "text",
  startedAt: "instant",
  durationMs: "integer",
  delivered: "boolean",
  responseStatus: "integer or null",
  error: "text or null",
  destinationId: "text",
});

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
