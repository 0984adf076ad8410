import { bigint, boolean, customType, integer, pgTable, text } from "drizzle-orm/pg-core";

import type { Client } from "../../auth/client.ts";
import type { Booking, PaymentMethod } from "../../bookings/booking.ts";
import type { Disclosure } from "../../bookings/disclosure.ts";
import type { EventData, EventStatus, Receipt } from "../../events/event.ts";
import type { CabinClass } from "../../flights/flight.ts";
import type { NotificationStatus, Severity } from "../../notifications/notification.ts";
import type { SpanMinutes, Verdict } from "../../statistics/delivery-count.ts";
import type { RejectionReason } from "../../webhooks/rejection.ts";
import type { Tables } from "../tables.ts";

// Indexes, uniqueness and keys stand in the migrations: they are what the database is made of.
// Here stands only how a row is read and written; a test compares the two.

/** A point in time: whole milliseconds since the epoch. */
const instant = customType<{ data: Date; driverData: number | string | null }>({
  dataType: () => "bigint",
  toDriver: (time: Date | null) => time?.getTime() ?? null,
  // The driver reads a bigint as text: it may be more than a number holds.
  fromDriver: (ms) => new Date(Number(ms ?? Number.NaN)),
});
/** The driver makes JSON of what it is given, and reads it back. */
const json = customType<{ data: unknown; driverData: unknown }>({ dataType: () => "json" });
const bytes = customType<{ data: Uint8Array; driverData: Uint8Array | null }>({
  dataType: () => "bytea",
});
/** A whole number of up to 2^53. */
const whole = (name: string) => bigint(name, { mode: "number" });

const events = pgTable("events", {
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

const notifications = pgTable("notifications", {
  seq: whole("seq").notNull(),
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

const attempts = pgTable("attempts", {
  notificationId: text("notification_id").$type<`ntf_${string}`>().notNull(),
  startedAt: instant("started_at").notNull(),
  durationMs: integer("duration_ms").notNull(),
  delivered: boolean("delivered").notNull(),
  responseStatus: integer("response_status"),
  error: text("error"),
});

const rejections = pgTable("rejections", {
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

const users = pgTable("users", {
  id: text("id").notNull(),
  name: text("name").notNull(),
  email: text("email").notNull(),
  createdAt: instant("created_at").notNull(),
});

const flights = pgTable("flights", {
  id: integer("id").notNull(),
  flightNumber: text("flight_number").notNull(),
  airline: text("airline").notNull(),
  origin: text("origin").notNull(),
  destination: text("destination").notNull(),
  departureTime: instant("departure_time").notNull(),
  arrivalTime: instant("arrival_time").notNull(),
  cabinClass: text("cabin_class").$type<CabinClass>().notNull(),
  seats: integer("seats").notNull(),
  seatsAvailable: integer("seats_available").notNull(),
  priceMinor: whole("price_minor").notNull(),
  currency: text("currency").notNull(),
  createdAt: instant("created_at").notNull(),
});

const bookings = pgTable("bookings", {
  id: text("id").$type<Booking["id"]>().notNull(),
  reference: text("reference").notNull(),
  userId: text("user_id").notNull(),
  flightId: integer("flight_id").notNull(),
  status: text("status").$type<Booking["status"]>().notNull(),
  seats: integer("seats").notNull(),
  totalMinor: whole("total_minor").notNull(),
  currency: text("currency").notNull(),
  contactEmail: text("contact_email").notNull(),
  paymentMethod: text("payment_method").$type<PaymentMethod>().notNull(),
  createdAt: instant("created_at").notNull(),
  updatedAt: instant("updated_at").notNull(),
  cancelledAt: instant("cancelled_at"),
  refundMinor: whole("refund_minor"),
  refundPercent: integer("refund_percent"),
  refundReason: text("refund_reason"),
});

const passengers = pgTable("passengers", {
  bookingId: text("booking_id").$type<Booking["id"]>().notNull(),
  position: integer("position").notNull(),
  firstName: text("first_name").notNull(),
  lastName: text("last_name").notNull(),
  email: text("email").notNull(),
  sealed: bytes("sealed").notNull(),
});

const idempotency = pgTable("idempotency", {
  scope: text("scope").notNull(),
  key: text("key").notNull(),
  requestHash: bytes("request_hash").notNull(),
  resourceId: text("resource_id").notNull(),
  createdAt: instant("created_at").notNull(),
  expiresAt: instant("expires_at").notNull(),
});

const clients = pgTable("clients", {
  id: text("id").$type<Client["id"]>().notNull(),
  name: text("name").notNull(),
  secretHash: text("secret_hash").notNull(),
  roles: json("roles").$type<Client["roles"]>().notNull(),
  createdAt: instant("created_at").notNull(),
});

const disclosures = pgTable("disclosures", {
  id: text("id").$type<Disclosure["id"]>().notNull(),
  bookingId: text("booking_id").$type<Booking["id"]>().notNull(),
  actor: text("actor").notNull(),
  reason: text("reason").notNull(),
  createdAt: instant("created_at").notNull(),
});

const deliveryCounts = pgTable("delivery_counts", {
  spanMinutes: integer("span_minutes").$type<SpanMinutes>().notNull(),
  provider: text("provider").notNull(),
  minute: integer("minute").notNull(),
  verdict: text("verdict").$type<Verdict>().notNull(),
  deliveries: whole("deliveries").notNull(),
});

const secretUses = pgTable("secret_uses", {
  provider: text("provider").notNull(),
  secret: text("secret").notNull(),
  firstMatchedAt: instant("first_matched_at").notNull(),
  lastMatchedAt: instant("last_matched_at").notNull(),
});

export const tables = {
  events,
  notifications,
  attempts,
  rejections,
  users,
  flights,
  bookings,
  passengers,
  idempotency,
  clients,
  disclosures,
  deliveryCounts,
  secretUses,
} satisfies Tables;
