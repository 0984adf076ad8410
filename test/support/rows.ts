import { Database } from "bun:sqlite";

import type { FlightPlan } from "../../src/booking/flight.ts";
import { emptyEvent, type StoredEvent } from "../../src/event/event.ts";
import type { StoredRejection } from "../../src/inbound/rejection.ts";
import type { StoredDelivery } from "../../src/outbound/delivery.ts";
import { destinationDefaults } from "../../src/outbound/destination-fields.ts";
import { operatorGateway, type StoredDestination } from "../../src/outbound/destination.ts";
import type { Notification } from "../../src/outbound/notification.ts";

/** The database of a running program, as another process opens it: it waits for the program's locks. */
export function openedBeside(file: string): Database {
  const database = new Database(file);
  database.run("pragma busy_timeout = 10000");
  return database;
}

/** An event row to store; `number` makes it unique. */
export function eventRow(number: number, fields: Partial<StoredEvent> = {}): StoredEvent {
  const at = new Date(Date.UTC(2026, 10, 21) + number);
  return {
    ...emptyEvent,
    id: `evt_${number.toString(16).padStart(32, "0")}`,
    provider: "task_tracker",
    type: "task.completed",
    status: "accepted",
    idempotencyKey: `task_tracker:${number}`,
    occurredAt: at,
    createdAt: at,
    title: `Event ${number}`,
    data: { number, nothing: null },
    headers: { host: "localhost" },
    address: "127.0.0.1",
    signedWith: "current",
    bodyBytes: 2,
    body: Buffer.from("{}"),
    ...fields,
  };
}

export function rejectionRow(
  number: number,
  fields: Partial<StoredRejection> = {},
): StoredRejection {
  return {
    id: `rej_${number.toString(16).padStart(32, "0")}`,
    provider: "code_host",
    createdAt: new Date(Date.UTC(2026, 10, 21) + number),
    reason: "wrong-signature",
    address: "192.0.2.1",
    requestId: "one",
    headers: { host: "localhost" },
    signatures: { "signature-256": "sha256=00" },
    bodyBytes: 2,
    body: Buffer.from("{}"),
    ...fields,
  };
}

export function notificationRow(number: number, fields: Partial<Notification> = {}): Notification {
  const at = new Date(Date.UTC(2026, 10, 21) + number);
  return {
    id: `ntf_${number.toString(16).padStart(32, "0")}`,
    eventId: `evt_${number.toString(16).padStart(32, "0")}`,
    createdAt: at,
    title: `Notification ${number}`,
    text: "",
    url: null,
    severity: "info",
    status: "pending",
    attemptCount: 0,
    dueAt: at,
    deliveredAt: null,
    lastError: null,
    ...fields,
  };
}

/** The delivery of a notification to the operator gateway. */
export function deliveryRow(
  notification: Notification,
  fields: Partial<StoredDelivery> = {},
): Omit<StoredDelivery, "seq"> {
  const { id, eventId, createdAt, status, attemptCount, dueAt, deliveredAt, lastError } =
    notification;
  return {
    id: `dlv_${id.slice(4)}`,
    destinationId: operatorGateway.id,
    notificationId: id,
    eventId,
    ownerId: null,
    createdAt,
    orderKey: null,
    status,
    attemptCount,
    dueAt,
    leasedUntil: null,
    deliveredAt,
    lastError,
    blocked: (fields.orderKey ?? null) !== null,
    afterDead: false,
    ...fields,
  };
}

/** A disabled destination, with secrets that cannot be decrypted; `number` makes it unique. */
export function destinationRow(
  number: number,
  fields: Partial<StoredDestination> = {},
): StoredDestination {
  const at = new Date(Date.UTC(2026, 10, 21) + number);
  return {
    id: `dst_${number.toString(16).padStart(32, "0")}`,
    name: `row-${number}`,
    ...destinationDefaults,
    ownerId: null,
    format: "json",
    transport: "http",
    address: "https://example.com",
    headerNames: null,
    state: "disabled",
    disabledReason: null,
    createdAt: at,
    updatedAt: at,
    failures: 0,
    openUntil: null,
    failingSince: null,
    sealed: new Uint8Array(1),
    ...fields,
  };
}

/** A flight with 100 seats; `number` makes it unique. */
export function flightRow(number: number): FlightPlan & { readonly createdAt: Date } {
  const at = (hour: number) => new Date(Date.UTC(2026, 11, 21, hour));
  return {
    flightNumber: `SK${number}`,
    airline: "Skyhook Air",
    origin: "JFK",
    destination: "LHR",
    departureTime: at(12),
    arrivalTime: at(19),
    cabinClass: "economy",
    seats: 100,
    priceMinor: 49_950,
    currency: "USD",
    createdAt: at(0),
  };
}
