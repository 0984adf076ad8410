import { blob, customType, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

import type { EventData, EventStatus, Receipt } from "../../events/event.ts";
import type { NotificationStatus, Severity } from "../../notifications/notification.ts";
import type { RejectionReason } from "../../webhooks/rejection.ts";
import type { Tables } from "../tables.ts";

// Indexes, uniqueness and keys stand in the migrations: they are what the database is made of.
// Here stands only how a row is read and written; a test compares the two.

// Drizzle's own time and JSON columns encode a null that comes by placeholder: one throws, the other
// writes the text "null". Hence these two.

/** A point in time: whole milliseconds since the epoch. */
const instant = customType<{ data: Date; driverData: number | null }>({
  dataType: () => "integer",
  toDriver: (time: Date | null) => time?.getTime() ?? null,
  fromDriver: (ms) => new Date(ms ?? Number.NaN),
});
const json = customType<{ data: unknown; driverData: string | null }>({
  dataType: () => "text",
  toDriver: (value) => (value === null ? null : JSON.stringify(value)),
  fromDriver: (text): unknown => JSON.parse(text ?? "null"),
});
const bytes = (name: string) => blob(name, { mode: "buffer" }).$type<Uint8Array>();

const events = sqliteTable("events", {
  id: text("id").$type<`evt_${string}`>().notNull(),
  provider: text("provider").notNull(),
  type: text("type").notNull(),
  status: text("status").$type<EventStatus>().notNull(),
  idempotencyKey: text("idempotency_key").notNull(),
  occurredAt: instant("occurred_at").notNull(),
  createdAt: instant("created_at").notNull(),
  subject: text("subject"),
  title: text("title").notNull(),
  url: text("url"),
  actor: text("actor"),
  data: json("data").$type<EventData>().notNull(),
  headers: json("headers").$type<Receipt["headers"]>(),
  address: text("address"),
  signedWith: text("signed_with").$type<Receipt["signedWith"]>(),
  bodyBytes: integer("body_bytes").notNull(),
  duplicates: integer("duplicates").notNull(),
  bodyHash: bytes("body_hash"),
  body: bytes("body"),
});

const notifications = sqliteTable("notifications", {
  seq: integer("seq").notNull(),
  id: text("id").$type<`ntf_${string}`>().notNull(),
  eventId: text("event_id").$type<`evt_${string}`>().notNull(),
  createdAt: instant("created_at").notNull(),
  title: text("title").notNull(),
  text: text("text").notNull(),
  url: text("url"),
  severity: text("severity").$type<Severity>().notNull(),
  status: text("status").$type<NotificationStatus>().notNull(),
  attemptCount: integer("attempt_count").notNull(),
  dueAt: instant("due_at"),
  leasedUntil: instant("leased_until"),
  deliveredAt: instant("delivered_at"),
  lastError: text("last_error"),
});

const attempts = sqliteTable("attempts", {
  notificationId: text("notification_id").$type<`ntf_${string}`>().notNull(),
  startedAt: instant("started_at").notNull(),
  durationMs: integer("duration_ms").notNull(),
  delivered: integer("delivered", { mode: "boolean" }).notNull(),
  responseStatus: integer("response_status"),
  error: text("error"),
});

const rejections = sqliteTable("rejections", {
  id: text("id").$type<`rej_${string}`>().notNull(),
  provider: text("provider").notNull(),
  createdAt: instant("created_at").notNull(),
  reason: text("reason").$type<RejectionReason>().notNull(),
  address: text("address").notNull(),
  requestId: text("request_id").notNull(),
  headers: json("headers").$type<Readonly<Record<string, string>>>().notNull(),
  signatures: json("signatures").$type<Readonly<Record<string, string>>>().notNull(),
  bodyBytes: integer("body_bytes").notNull(),
  body: bytes("body"),
});

const users = sqliteTable("users", {
  id: text("id").notNull(),
  name: text("name").notNull(),
  email: text("email").notNull(),
  createdAt: instant("created_at").notNull(),
});

export const tables = {
  events,
  notifications,
  attempts,
  rejections,
  users,
} satisfies Tables;
