import { bookingChangesTable } from "../booking/booking-change.ts";
import { bookingsTable, passengersTable } from "../booking/booking.ts";
import { flightChangeNoticesTable, flightChangesTable } from "../booking/flight-change.ts";
import { flightsTable } from "../booking/flight.ts";
import { paymentsTable } from "../booking/payment.ts";
import { disclosuresTable } from "../booking/personal-data/disclosure.ts";
import { waitingRefundsTable } from "../booking/waiting-refund.ts";
import type { Schema } from "../db/schema.ts";
import { eventsTable } from "../event/event.ts";
import { eventStatesTable, searchQueueTable } from "../events/event-index.ts";
import { replayFailuresTable, replaysTable } from "../events/replay.ts";
import { auditTable } from "../identity/audit/audit-entry.ts";
import { clientsTable } from "../identity/auth/client.ts";
import { idempotencyTable } from "../identity/idempotency/idempotency.ts";
import { sessionsTable } from "../identity/sessions/session.ts";
import { erasuresTable } from "../identity/users/erasure.ts";
import { usersTable } from "../identity/users/user.ts";
import { paymentSearchesTable } from "../inbound/payment-search.ts";
import { reconciliationsTable } from "../inbound/reconciliation.ts";
import { rejectionsTable } from "../inbound/rejection.ts";
import { secretUsesTable } from "../inbound/secret-use.ts";
import { webhookCountsTable } from "../inbound/webhook-count.ts";
import { mutesTable } from "../operations/issues/issue.ts";
import { deliveriesTable } from "../outbound/delivery.ts";
import { destinationsTable } from "../outbound/destination.ts";
import { attemptsTable, notificationsTable } from "../outbound/notification.ts";

import initialPostgres from "./postgres/0001_initial.sql" with { type: "text" };
import statisticsPostgres from "./postgres/0002_statistics.sql" with { type: "text" };
import ownersPostgres from "./postgres/0003_booking_event_owners.sql" with { type: "text" };
import recoveredPostgres from "./postgres/0004_recovered_events.sql" with { type: "text" };
import holdsPostgres from "./postgres/0005_holds.sql" with { type: "text" };
import destinationsPostgres from "./postgres/0006_destinations.sql" with { type: "text" };
import reconciliationsPostgres from "./postgres/0007_reconciliations.sql" with { type: "text" };
import auditPostgres from "./postgres/0008_audit.sql" with { type: "text" };
import paymentsPostgres from "./postgres/0009_payments.sql" with { type: "text" };
import attemptsPostgres from "./postgres/0010_attempts_of_destination.sql" with { type: "text" };
import searchPostgres from "./postgres/0011_search.sql" with { type: "text" };
import eventOrderPostgres from "./postgres/0012_event_order.sql" with { type: "text" };
import sessionsPostgres from "./postgres/0013_sessions_and_mutes.sql" with { type: "text" };
import replaysPostgres from "./postgres/0014_replays.sql" with { type: "text" };
import auditFiltersPostgres from "./postgres/0015_audit_filters.sql" with { type: "text" };
import failuresPostgres from "./postgres/0016_replay_failures.sql" with { type: "text" };
import actorsPostgres from "./postgres/0017_sessions_of_actor.sql" with { type: "text" };
import blockedPostgres from "./postgres/0018_blocked_deliveries.sql" with { type: "text" };
import namesPostgres from "./postgres/0019_destination_names.sql" with { type: "text" };
import latePaymentsPostgres from "./postgres/0020_late_payments.sql" with { type: "text" };
import rejectedPostgres from "./postgres/0021_rejected_deliveries.sql" with { type: "text" };
import eventsOfPostgres from "./postgres/0022_events_of_destination.sql" with { type: "text" };
import itemsPostgres from "./postgres/0023_delivery_items.sql" with { type: "text" };
import roomPostgres from "./postgres/0024_room_for_updates.sql" with { type: "text" };
import filteredPostgres from "./postgres/0025_filtered_lists.sql" with { type: "text" };
import optionsPostgres from "./postgres/0026_destination_options.sql" with { type: "text" };
import flightChangesPostgres from "./postgres/0027_flight_changes.sql" with { type: "text" };
import changesPostgres from "./postgres/0028_booking_changes.sql" with { type: "text" };
import waitlistPostgres from "./postgres/0029_waitlist.sql" with { type: "text" };
import recordedPostgres from "./postgres/0030_recorded_refunds.sql" with { type: "text" };
import erasuresPostgres from "./postgres/0031_erasures.sql" with { type: "text" };
import agentsPostgres from "./postgres/0032_agents.sql" with { type: "text" };
import initialSqlite from "./sqlite/0001_initial.sql" with { type: "text" };
import bookingsSqlite from "./sqlite/0002_bookings.sql" with { type: "text" };
import statisticsSqlite from "./sqlite/0003_statistics.sql" with { type: "text" };
import ownersSqlite from "./sqlite/0004_booking_event_owners.sql" with { type: "text" };
import recoveredSqlite from "./sqlite/0005_recovered_events.sql" with { type: "text" };
import holdsSqlite from "./sqlite/0006_holds.sql" with { type: "text" };
import destinationsSqlite from "./sqlite/0007_destinations.sql" with { type: "text" };
import reconciliationsSqlite from "./sqlite/0008_reconciliations.sql" with { type: "text" };
import auditSqlite from "./sqlite/0009_audit.sql" with { type: "text" };
import paymentsSqlite from "./sqlite/0010_payments.sql" with { type: "text" };
import attemptsSqlite from "./sqlite/0011_attempts_of_destination.sql" with { type: "text" };
import searchSqlite from "./sqlite/0012_search.sql" with { type: "text" };
import eventOrderSqlite from "./sqlite/0013_event_order.sql" with { type: "text" };
import sessionsSqlite from "./sqlite/0014_sessions_and_mutes.sql" with { type: "text" };
import replaysSqlite from "./sqlite/0015_replays.sql" with { type: "text" };
import auditFiltersSqlite from "./sqlite/0016_audit_filters.sql" with { type: "text" };
import failuresSqlite from "./sqlite/0017_replay_failures.sql" with { type: "text" };
import actorsSqlite from "./sqlite/0018_sessions_of_actor.sql" with { type: "text" };
import blockedSqlite from "./sqlite/0019_blocked_deliveries.sql" with { type: "text" };
import namesSqlite from "./sqlite/0020_destination_names.sql" with { type: "text" };
import latePaymentsSqlite from "./sqlite/0021_late_payments.sql" with { type: "text" };
import rejectedSqlite from "./sqlite/0022_rejected_deliveries.sql" with { type: "text" };
import eventsOfSqlite from "./sqlite/0023_events_of_destination.sql" with { type: "text" };
import itemsSqlite from "./sqlite/0024_delivery_items.sql" with { type: "text" };
import progressSqlite from "./sqlite/0025_search_progress.sql" with { type: "text" };
import filteredSqlite from "./sqlite/0026_filtered_lists.sql" with { type: "text" };
import optionsSqlite from "./sqlite/0027_destination_options.sql" with { type: "text" };
import flightChangesSqlite from "./sqlite/0028_flight_changes.sql" with { type: "text" };
import changesSqlite from "./sqlite/0029_booking_changes.sql" with { type: "text" };
import waitlistSqlite from "./sqlite/0030_waitlist.sql" with { type: "text" };
import recordedSqlite from "./sqlite/0031_recorded_refunds.sql" with { type: "text" };
import erasuresSqlite from "./sqlite/0032_erasures.sql" with { type: "text" };
import agentsSqlite from "./sqlite/0033_agents.sql" with { type: "text" };

/** Every table of the program. */
export const tables = {
  events: eventsTable,
  notifications: notificationsTable,
  attempts: attemptsTable,
  destinations: destinationsTable,
  deliveries: deliveriesTable,
  rejections: rejectionsTable,
  users: usersTable,
  flights: flightsTable,
  flightChanges: flightChangesTable,
  flightChangeNotices: flightChangeNoticesTable,
  bookings: bookingsTable,
  passengers: passengersTable,
  bookingChanges: bookingChangesTable,
  idempotency: idempotencyTable,
  clients: clientsTable,
  audit: auditTable,
  payments: paymentsTable,
  waitingRefunds: waitingRefundsTable,
  paymentSearches: paymentSearchesTable,
  sessions: sessionsTable,
  mutes: mutesTable,
  disclosures: disclosuresTable,
  webhookCounts: webhookCountsTable,
  secretUses: secretUsesTable,
  reconciliations: reconciliationsTable,
  replays: replaysTable,
  replayFailures: replayFailuresTable,
  searchQueue: searchQueueTable,
  eventStates: eventStatesTable,
  erasures: erasuresTable,
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
      { name: "0005_recovered_events", sql: recoveredSqlite },
      { name: "0006_holds", sql: holdsSqlite },
      { name: "0007_destinations", sql: destinationsSqlite },
      { name: "0008_reconciliations", sql: reconciliationsSqlite },
      { name: "0009_audit", sql: auditSqlite },
      { name: "0010_payments", sql: paymentsSqlite },
      { name: "0011_attempts_of_destination", sql: attemptsSqlite },
      { name: "0012_search", sql: searchSqlite },
      { name: "0013_event_order", sql: eventOrderSqlite },
      { name: "0014_sessions_and_mutes", sql: sessionsSqlite },
      { name: "0015_replays", sql: replaysSqlite },
      { name: "0016_audit_filters", sql: auditFiltersSqlite },
      { name: "0017_replay_failures", sql: failuresSqlite },
      { name: "0018_sessions_of_actor", sql: actorsSqlite },
      { name: "0019_blocked_deliveries", sql: blockedSqlite },
      { name: "0020_destination_names", sql: namesSqlite },
      { name: "0021_late_payments", sql: latePaymentsSqlite },
      { name: "0022_rejected_deliveries", sql: rejectedSqlite },
      { name: "0023_events_of_destination", sql: eventsOfSqlite },
      { name: "0024_delivery_items", sql: itemsSqlite },
      { name: "0025_search_progress", sql: progressSqlite },
      { name: "0026_filtered_lists", sql: filteredSqlite },
      { name: "0027_destination_options", sql: optionsSqlite },
      { name: "0028_flight_changes", sql: flightChangesSqlite },
      { name: "0029_booking_changes", sql: changesSqlite },
      { name: "0030_waitlist", sql: waitlistSqlite },
      { name: "0031_recorded_refunds", sql: recordedSqlite },
      { name: "0032_erasures", sql: erasuresSqlite },
      { name: "0033_agents", sql: agentsSqlite },
    ],
    postgres: [
      { name: "0001_initial", sql: initialPostgres },
      { name: "0002_statistics", sql: statisticsPostgres },
      { name: "0003_booking_event_owners", sql: ownersPostgres },
      { name: "0004_recovered_events", sql: recoveredPostgres },
      { name: "0005_holds", sql: holdsPostgres },
      { name: "0006_destinations", sql: destinationsPostgres },
      { name: "0007_reconciliations", sql: reconciliationsPostgres },
      { name: "0008_audit", sql: auditPostgres },
      { name: "0009_payments", sql: paymentsPostgres },
      { name: "0010_attempts_of_destination", sql: attemptsPostgres },
      { name: "0011_search", sql: searchPostgres },
      { name: "0012_event_order", sql: eventOrderPostgres },
      { name: "0013_sessions_and_mutes", sql: sessionsPostgres },
      { name: "0014_replays", sql: replaysPostgres },
      { name: "0015_audit_filters", sql: auditFiltersPostgres },
      { name: "0016_replay_failures", sql: failuresPostgres },
      { name: "0017_sessions_of_actor", sql: actorsPostgres },
      { name: "0018_blocked_deliveries", sql: blockedPostgres },
      { name: "0019_destination_names", sql: namesPostgres },
      { name: "0020_late_payments", sql: latePaymentsPostgres },
      { name: "0021_rejected_deliveries", sql: rejectedPostgres },
      { name: "0022_events_of_destination", sql: eventsOfPostgres },
      { name: "0023_delivery_items", sql: itemsPostgres },
      { name: "0024_room_for_updates", sql: roomPostgres },
      { name: "0025_filtered_lists", sql: filteredPostgres },
      { name: "0026_destination_options", sql: optionsPostgres },
      { name: "0027_flight_changes", sql: flightChangesPostgres },
      { name: "0028_booking_changes", sql: changesPostgres },
      { name: "0029_waitlist", sql: waitlistPostgres },
      { name: "0030_recorded_refunds", sql: recordedPostgres },
      { name: "0031_erasures", sql: erasuresPostgres },
      { name: "0032_agents", sql: agentsPostgres },
    ],
  },
};
