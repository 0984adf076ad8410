import { bookingChangesTable } from "../booking/model/booking-change.ts";
import { bookingsTable, passengersTable } from "../booking/model/booking.ts";
import { flightEventsTable, flightsTable } from "../booking/model/flight.ts";
import { paymentsTable } from "../booking/model/payment.ts";
import { seatHoldsTable } from "../booking/model/seat-hold.ts";
import { waitingNoticesTable } from "../booking/payments/waiting-notice.ts";
import { disclosuresTable } from "../booking/personal-data/disclosure.ts";
import type { Schema } from "../db/schema.ts";
import { eventsTable } from "../event/event.ts";
import { replayFailuresTable, replaysTable } from "../events/replay.ts";
import { auditTable } from "../identity/audit/audit-entry.ts";
import { clientsTable } from "../identity/auth/client.ts";
import { idempotencyTable } from "../identity/idempotency/idempotency.ts";
import { sessionsTable } from "../identity/sessions/session.ts";
import { erasuresTable } from "../identity/users/erasure.ts";
import { revocationsTable } from "../identity/users/revocation.ts";
import { usersTable } from "../identity/users/user.ts";
import { paymentSearchesTable } from "../inbound/model/payment-search.ts";
import { reconciliationsTable } from "../inbound/model/reconciliation.ts";
import { rejectionsTable } from "../inbound/model/rejection.ts";
import { secretUsesTable } from "../inbound/model/secret-use.ts";
import { webhookCountsTable } from "../inbound/model/webhook-count.ts";
import { mutesTable } from "../operations/issues/issue.ts";
import { deliveriesTable } from "../outbound/model/delivery.ts";
import { destinationsTable } from "../outbound/model/destination.ts";
import { failedAttemptsTable, notificationsTable } from "../outbound/model/notification.ts";

import postgres from "./postgres.sql" with { type: "text" };
import sqlite from "./sqlite.sql" with { type: "text" };

/** Every table of the program. */
export const tables = {
  events: eventsTable,
  notifications: notificationsTable,
  failedAttempts: failedAttemptsTable,
  destinations: destinationsTable,
  deliveries: deliveriesTable,
  rejections: rejectionsTable,
  users: usersTable,
  flights: flightsTable,
  flightEvents: flightEventsTable,
  bookings: bookingsTable,
  passengers: passengersTable,
  seatHolds: seatHoldsTable,
  bookingChanges: bookingChangesTable,
  idempotency: idempotencyTable,
  clients: clientsTable,
  audit: auditTable,
  payments: paymentsTable,
  waitingNotices: waitingNoticesTable,
  paymentSearches: paymentSearchesTable,
  sessions: sessionsTable,
  mutes: mutesTable,
  disclosures: disclosuresTable,
  webhookCounts: webhookCountsTable,
  secretUses: secretUsesTable,
  reconciliations: reconciliationsTable,
  replays: replaysTable,
  replayFailures: replayFailuresTable,
  erasures: erasuresTable,
  revocations: revocationsTable,
} as const;

/** What the program stores. Never edit a released migration: add a file and a line. */
export const schema: Schema = {
  tables: Object.values(tables),
  migrations: {
    sqlite: [{ name: "0.1.0", sql: sqlite }],
    postgres: [{ name: "0.1.0", sql: postgres }],
  },
};
