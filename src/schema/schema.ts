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

import initialPostgres from "./postgres/0001_initial.sql" with { type: "text" };
import statisticsPostgres from "./postgres/0002_statistics.sql" with { type: "text" };
import ownersPostgres from "./postgres/0003_booking_event_owners.sql" with { type: "text" };
import initialSqlite from "./sqlite/0001_initial.sql" with { type: "text" };
import bookingsSqlite from "./sqlite/0002_bookings.sql" with { type: "text" };
import statisticsSqlite from "./sqlite/0003_statistics.sql" with { type: "text" };
import ownersSqlite from "./sqlite/0004_booking_event_owners.sql" with { type: "text" };

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

/** What the program stores. Never edit a released migration: add a file and a line. */
export const schema: Schema = {
  tables: Object.values(tables),
  migrations: {
    sqlite: [
      { name: "0001_initial", sql: initialSqlite },
      { name: "0002_bookings", sql: bookingsSqlite },
      { name: "0003_statistics", sql: statisticsSqlite },
      { name: "0004_booking_event_owners", sql: ownersSqlite },
    ],
    postgres: [
      { name: "0001_initial", sql: initialPostgres },
      { name: "0002_statistics", sql: statisticsPostgres },
      { name: "0003_booking_event_owners", sql: ownersPostgres },
    ],
  },
};
