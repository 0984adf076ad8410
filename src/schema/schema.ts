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

import postgresInitial from "./postgres/0001_initial.sql" with { type: "text" };
import postgresStatistics from "./postgres/0002_statistics.sql" with { type: "text" };
import postgresBookingEventOwners from "./postgres/0003_booking_event_owners.sql" with { type: "text" };
import sqliteInitial from "./sqlite/0001_initial.sql" with { type: "text" };
import sqliteBookings from "./sqlite/0002_bookings.sql" with { type: "text" };
import sqliteStatistics from "./sqlite/0003_statistics.sql" with { type: "text" };
import sqliteBookingEventOwners from "./sqlite/0004_booking_event_owners.sql" with { type: "text" };

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

/** What the program stores. Migrations run in this order; a change is a new file, never an edit. */
export const schema: Schema = {
  tables: Object.values(tables),
  migrations: {
    sqlite: [
      { name: "0001_initial", sql: sqliteInitial },
      { name: "0002_bookings", sql: sqliteBookings },
      { name: "0003_statistics", sql: sqliteStatistics },
      { name: "0004_booking_event_owners", sql: sqliteBookingEventOwners },
    ],
    postgres: [
      { name: "0001_initial", sql: postgresInitial },
      { name: "0002_statistics", sql: postgresStatistics },
      { name: "0003_booking_event_owners", sql: postgresBookingEventOwners },
    ],
  },
};
