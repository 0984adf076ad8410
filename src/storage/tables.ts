import { clientsTable } from "../auth/client.ts";
import { bookingsTable, passengersTable } from "../bookings/booking.ts";
import { disclosuresTable } from "../bookings/disclosure.ts";
import { eventsTable } from "../events/event.ts";
import { flightsTable } from "../flights/flight.ts";
import { idempotencyTable } from "../idempotency/idempotency.ts";
import { attemptsTable, notificationsTable } from "../notifications/notification.ts";
import { deliveryCountsTable } from "../statistics/delivery-count.ts";
import { usersTable } from "../users/user.ts";
import { rejectionsTable } from "../webhooks/rejection.ts";
import { secretUsesTable } from "../webhooks/secret-use.ts";

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
