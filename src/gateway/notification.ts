import { defineTable } from "../db/table.ts";

/** `pending → delivered | retrying → dead`; a dead one can be armed again and is then pending. */
export const notificationStatuses = ["pending", "retrying", "delivered", "dead"] as const;
export type NotificationStatus = (typeof notificationStatuses)[number];

/** Of those that the operator gateway did not take. */
export const undeliveredStatuses = ["dead", "retrying"] as const;

/** From the least to the gravest. */
export const severities = ["info", "success", "warning", "error"] as const;
export type Severity = (typeof severities)[number];

/** The gravest of some messages' severities; null where there is none. */
export function gravest(messages: readonly Pick<Message, "severity">[]): Severity | null {
  const found = messages.map(({ severity }) => severity);
  return severities.findLast((severity) => found.includes(severity)) ?? null;
}

/** What a provider's notify function says; the rest of a notification is made on storing it. */
export interface Message {
  readonly title: string;
  readonly text: string;
  readonly url: string | null;
  readonly severity: Severity;
}

/** One message to the operators about one event, and where its delivery stands. */
export interface Notification extends Message {
  /** `ntf_` and a UUIDv7; the `webhook-id` of every delivery attempt. */
  readonly id: `ntf_${string}`;
  readonly eventId: `evt_${string}`;
  readonly createdAt: Date;
  readonly status: NotificationStatus;
  /** Delivery attempts made since it was last armed; one cut off by a stop or a crash is none. */
  readonly attemptCount: number;
  /** When the next attempt is due; null when settled. */
  readonly dueAt: Date | null;
  readonly deliveredAt: Date | null;
  /** Why the last attempt failed, for operators. */
  readonly lastError: string | null;
}

/** A notification as stored. */
export interface StoredNotification extends Notification {
  /** Rises with every commit: the feed's position, independent of any clock. */
  readonly seq: number;
  /** Until then one notifier holds it and no other takes it. */
  readonly leasedUntil: Date | null;
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
  leasedUntil: "instant or null",
  deliveredAt: "instant or null",
  lastError: "text or null",
});

/** One try to hand a notification to the operator gateway. */
export interface Attempt {
  readonly notificationId: `ntf_${string}`;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly delivered: boolean;
  /** The gateway's HTTP status; null when no answer came. */
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
});

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Waits before each retry, in milliseconds; after the last one a notification is dead. */
export const retryDelaysMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  6 * hour,
] as const;

/** No answer of a gateway can put a retry off for longer than this, and none of our own waits is longer. */
export const longestRetryAfterMs = 24 * hour;

/**
 * Milliseconds until the next try, or null when there is none left. `attempts`: tries begun so far.
 * Up to 10 % is added at random so that a returning gateway is not met by all at once; a longer
 * `Retry-After` wins (RFC 9110 section 10.2.3), capped at 24 h. `random` is in [0, 1).
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
