import { clientsTable } from "../identity/auth/client.ts";
import { bookingsTable, passengersTable } from "../booking/booking.ts";
import { disclosuresTable } from "../booking/personal-data/disclosure.ts";
import { eventsTable } from "../gateway/event.ts";
import { flightsTable } from "../booking/flight.ts";
import { idempotencyTable } from "../identity/idempotency/idempotency.ts";
import { attemptsTable, notificationsTable } from "../gateway/notification.ts";
import { deliveryCountsTable } from "../gateway/delivery-count.ts";
import { usersTable } from "../identity/users/user.ts";
import { rejectionsTable } from "../gateway/rejection.ts";
import { secretUsesTable } from "../gateway/secret-use.ts";

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
