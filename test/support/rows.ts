import { Database } from "bun:sqlite";

import { firstPositionAt, placeIn } from "../../src/base/ids.ts";
import type { FlightPlan } from "../../src/booking/model/flight.ts";
import { Place } from "../../src/db/place.ts";
import { type Write, write } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import { emptyEvent, type Event, type StoredEvent } from "../../src/event/event.ts";
import type { StoredRejection } from "../../src/inbound/model/rejection.ts";
import { insertDeliveries, type NewDelivery } from "../../src/outbound/model/deliveries.sql.ts";
import { destinationDefaults } from "../../src/outbound/model/destination-fields.ts";
import type { Destination, StoredDestination } from "../../src/outbound/model/destination.ts";
import { destinationsByIds } from "../../src/outbound/model/destinations.sql.ts";
import type { FailedAttempt } from "../../src/outbound/model/notification.ts";
import {
  insertFailures,
  insertNotification,
  type PlacedNotification,
} from "../../src/outbound/model/notifications.sql.ts";

/** The database of a running program, as another process opens it: it waits for the program's locks. */
export function openedBeside(file: string): Database {
  const database = new Database(file);
  database.run("pragma busy_timeout = 10000");
  return database;
}

/** What is stored of an event, with its id. */
export interface EventRow extends StoredEvent {
  readonly id: Event["id"];
}

/** An event row to store; `number` makes it unique, and orders it. It keeps its id if it is stored after those before it. */
export function eventRow(number: number, fields: Partial<StoredEvent> = {}): EventRow {
  const at = new Date(Date.UTC(2026, 10, 21) + number);
  const place = placeAt(fields.createdAt ?? at, number);
  return {
    ...emptyEvent,
    place,
    get id() {
      return this.place.id;
    },
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

/** The number of an event row with this id. */
export function numberOf(id: string): number {
  return placeIn("evt", id)?.tail ?? Number.NaN;
}

/** A place that has the first position of a time until it is stored. */
export function placeAt(at: Date, tail = 0): Place {
  const place = new Place(at.getTime(), tail);
  place.assign(firstPositionAt(at.getTime()));
  return place;
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

/**
 * The first notification of the event with this number, which keeps its place. With another `event`, it gets its own, at
 * `createdAt` or later.
 */
export function notificationRow(
  number: number,
  { createdAt, ...fields }: Partial<PlacedNotification> & { readonly createdAt?: Date } = {},
): PlacedNotification {
  const at = createdAt ?? new Date(Date.UTC(2026, 10, 21) + number);
  const place = placeAt(at, number);
  return {
    position: place,
    event: place,
    title: `Notification ${number}`,
    text: "",
    url: null,
    severity: "info",
    ...fields,
  };
}

/** The delivery of a notification to the first destination of the database. */
export function deliveryRow(
  { position, event }: Pick<PlacedNotification, "position" | "event">,
  { status = "pending", ...fields }: Partial<NewDelivery> = {},
): NewDelivery {
  const isOpen = status === "pending" || status === "retrying";
  return {
    event,
    notification: position,
    destination: 1,
    ownerId: null,
    orderKey: null,
    status,
    attemptCount: 0,
    dueAt: isOpen ? new Date(position.atMs) : null,
    leasedUntil: null,
    deliveredAt: null,
    lastError: null,
    startedAt: null,
    durationMs: null,
    responseStatus: null,
    blocked: (fields.orderKey ?? null) !== null,
    afterDead: false,
    ...fields,
  };
}

/** Stores a notification with one delivery. */
export function sentWrites(
  notification: PlacedNotification,
  delivery: Partial<NewDelivery> = {},
): readonly Write<never>[] {
  return [
    write(insertNotification, notification),
    write(insertDeliveries, { deliveries: [deliveryRow(notification, delivery)] }),
  ];
}

/** The number of a stored destination. */
export async function destinationNumber(storage: Storage, id: Destination["id"]): Promise<number> {
  const [found] = await storage.all(destinationsByIds, { ids: [id] });
  if (found === undefined) throw new Error(`No destination ${id}`);
  return found.number;
}

/** An attempt, with the position of its notification. */
export interface AttemptRow extends FailedAttempt {
  readonly delivered: boolean;
}

/** Stores an attempt: one that succeeded is in its delivery. */
export function attemptWrite({ delivered, ...attempt }: AttemptRow): Write<never> {
  if (!delivered) return write(insertFailures, { attempts: [attempt] });
  const { error: _, notification, ...success } = attempt;
  const own = { notification, event: notification, status: "delivered" } as const;
  const row = deliveryRow(notificationRow(0), { ...own, ...success });
  return write(insertDeliveries, { deliveries: [row] });
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
    url: "https://example.com",
    headerNames: null,
    tokenUrl: null,
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
