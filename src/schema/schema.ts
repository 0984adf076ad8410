import { bookingsTable, passengersTable } from "../booking/booking.ts";
import { flightsTable } from "../booking/flight.ts";
import { disclosuresTable } from "../booking/personal-data/disclosure.ts";
import type { Schema } from "../db/schema.ts";
import { deliveryCountsTable } from "../gateway/delivery-count.ts";
import { eventsTable } from "../gateway/event.ts";
import { attemptsTable, notificationsTable } from "../gateway/notification.ts";
import { rejectionsTable } from "../gateway/rejection.ts";
import { secretUsesTable } from "../gateway/secret-use.ts";
import { clientsTable } from "../identity/auth/client.ts";
import { idempotencyTable } from "../identity/idempotency/idempotency.ts";
import { usersTable } from "../identity/users/user.ts";

import { migrationsIn } from "./migrations.ts" with { type: "macro" };

/** Every table of the program. */
export const tables = {
  events: eventsTable,
  notifications: notificationsTable,
  attempts: attemptsTable,
  rejections: rejectionsTable,
  users: usersTable,
  flights: flightsTable,
  bookings: bookingsTable,
  passengers: passengersTable,
  idempotency: idempotencyTable,
  clients: clientsTable,
  disclosures: disclosuresTable,
  deliveryCounts: deliveryCountsTable,
  secretUses: secretUsesTable,
} as const;

/** What the program stores. A change of it is a new migration, never an edit of one. */
export const schema: Schema = {
  tables: Object.values(tables),
  migrations: { sqlite: migrationsIn("sqlite"), postgres: migrationsIn("postgres") },
};
