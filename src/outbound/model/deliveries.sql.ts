import { and, asc, eq, type SQL, sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import type { Place } from "../../db/place.ts";
import {
  columnsOf,
  type Dialect,
  rowsAs,
  shownColumns,
  statementsOver,
  type Write,
  write,
} from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { createdAt, eventId } from "../../event/event.sql.ts";
import { eventsTable } from "../../event/event.ts";

import { unblockNext } from "./delivery-order.sql.ts";
import {
  deliveriesTable,
  type DeliveryKey,
  type DeliveryWithTitle,
  type OutgoingDelivery,
  shownFields,
  type StoredDelivery,
} from "./delivery.ts";
import { destinationsTable } from "./destination.ts";
import { idOfNumber, numberOf } from "./destinations.sql.ts";
import { failedAttemptsTable, notificationsTable } from "./notification.ts";

const tables = {
  deliveries: deliveriesTable,
  notifications: notificationsTable,
  destinations: destinationsTable,
  failedAttempts: failedAttemptsTable,
  events: eventsTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The public fields of a delivery. Join its event. */
function deliveryColumns(t: Tables, dialect: Dialect) {
  return shownColumns(t.deliveries, shownFields, {
    id: dialect.idOf("dlv", t.deliveries.notification, t.deliveries.destination),
    destinationId: idOfNumber(t.deliveries.destination),
    notificationId: dialect.idOf("ntf", t.deliveries.notification, t.events.tail),
    eventId: eventId(t, dialect),
    createdAt: createdAt(t.deliveries.notification),
  });
}

type DeliveryColumns = TablesOf<{ readonly deliveries: typeof deliveriesTable }>["deliveries"];

export function keyColumns({ event, notification, destination }: DeliveryColumns) {
  return { event, notification, destination };
}

/** True for the delivery whose key a row of `alias` has. */
export function hasKeyOf(
  { event, notification, destination }: DeliveryColumns,
  alias: string,
): SQL {
  const row = sql.identifier(alias);
  return sql`${event} = ${row}.event and ${notification} = ${row}.notification and ${destination} = ${row}.destination`;
}

/** What is stored of a delivery, whose event and notification may be stored with it. */
export interface NewDelivery extends Omit<StoredDelivery, "notification" | "event"> {
  readonly notification: Place | number;
  readonly event: Place | number;
}

/** Use `storeDeliveries` for those that may have an order key. */
export const insertDeliveries = statement<{ deliveries: readonly NewDelivery[] }>()(
  (db, { deliveries }, p, dialect) =>
    db
      .insert(deliveries)
      .select(sql`select * from ${dialect.rows(p.deliveries, columnsOf(deliveries), "given")}`),
);

/** The writes that store deliveries. With an order key, store them blocked: the first becomes due. */
export function storeDeliveries(deliveries: readonly NewDelivery[]): readonly Write<never>[] {
  if (deliveries.length === 0) return [];
  return [
    write(insertDeliveries, { deliveries }),
    ...deliveries.flatMap((delivery) => unblockNext(delivery, delivery.dueAt ?? new Date(0))),
  ];
}

/** The event at a position. */
type OfEvent = Pick<StoredDelivery, "event">;
/** The events at these positions. */
interface OfEvents {
  readonly events: readonly StoredDelivery["event"][];
}

/** The deliveries of an event that are not delivered, with their statuses and order keys. */
export const undeliveredOf = statement<OfEvent>()((db, { deliveries }, p) => {
  const { event, notification, destination, orderKey, status } = deliveries;
  const destinationId = idOfNumber(destination);
  return db
    .select({ ...keyColumns(deliveries), destinationId, orderKey, status })
    .from(deliveries)
    .where(sql`${event} = ${p.event} and ${status} <> 'delivered'`)
    .orderBy(asc(notification), asc(destination));
});

/** The order groups of the undelivered deliveries of these events. */
export const orderGroupsOf = statement<OfEvents>()((db, { deliveries }, p, dialect) =>
  db
    .select({ destination: deliveries.destination, orderKey: deliveries.orderKey })
    .from(deliveries)
    .where(
      sql`${dialect.among(deliveries.event, p.events)} and ${deliveries.status} <> 'delivered' and ${deliveries.orderKey} is not null`,
    ),
);

/** The events of these that have a delivery which failed for good. */
export const deadAmong = statement<OfEvents>()((db, { deliveries }, p, dialect) =>
  db
    .select({ event: deliveries.event })
    .from(deliveries)
    .where(and(dialect.among(deliveries.event, p.events), sql`${deliveries.status} = 'dead'`)),
);

/** How many of these events each of the operators' destinations has received. */
export const receivedBy = statement<OfEvents>()((db, { deliveries, destinations }, p, dialect) =>
  db
    .select({
      destinationId: destinations.id,
      destination: destinations.name,
      events: sql<number>`count(distinct ${deliveries.event})`.mapWith(Number),
    })
    .from(deliveries)
    .innerJoin(destinations, eq(destinations.number, deliveries.destination))
    .where(
      sql`${dialect.among(deliveries.event, p.events)} and ${deliveries.status} = 'delivered' and ${deliveries.ownerId} is null`,
    )
    .groupBy(destinations.id, destinations.name)
    .orderBy(asc(destinations.name)),
);

export const deliveriesOfEvent = statement<OfEvent>()((db, t, p, dialect) =>
  db
    .select(deliveryColumns(t, dialect))
    .from(t.deliveries)
    .innerJoin(t.events, eq(t.events.position, t.deliveries.event))
    // It may have been stored while its destination was removed.
    .where(
      and(
        eq(t.deliveries.event, p.event),
        sql`${idOfNumber(t.deliveries.destination)} is not null`,
      ),
    )
    .orderBy(asc(t.deliveries.notification), asc(t.deliveries.destination)),
);

export const deliveryPages = pagesOver(tables)<DeliveryWithTitle, "destinationId" | "status">({
  table: ({ deliveries: { destination, status } }) => ({ destinationId: destination, status }),
  position: (t) => t.deliveries.notification,
  key: (t) => t.deliveries.notification,
  conditions: {
    destinationId: ({ deliveries: { destination } }, id) => sql`${destination} = ${numberOf(id)}`,
  },
  uncommon: { filter: "status", common: "delivered" },
  select: (db, t, dialect) =>
    db
      .select({
        ...deliveryColumns(t, dialect),
        title: t.notifications.title,
        severity: t.notifications.severity,
      })
      .from(t.deliveries)
      .innerJoin(t.notifications, eq(t.notifications.position, t.deliveries.notification))
      .innerJoin(t.events, eq(t.events.position, t.deliveries.event)),
  indexed: ["destinationId"],
});

/** How many deliveries to each destination are dead. Without those that have none. */
export const deadCounts = statement()((db, { destinations }) => {
  const count = sql<number>`(select count(*) from deliveries
    where deliveries.destination = destinations.number and deliveries.status = 'dead' and deliveries.status <> 'delivered')`;
  return db
    .select({ destinationId: destinations.id, count: count.mapWith(Number) })
    .from(destinations)
    .where(sql`${count} > 0`);
});

/**
 * Destinations that were removed while a delivery to them was stored. Reads one index entry per destination, however
 * many deliveries wait (sqlite.org/lang_with.html: a recursive query that skips to the next value).
 */
const orphaned = (which: string) =>
  statement()((db, { deliveries, destinations }) => {
    const first = sql`select min(destination) from ${deliveries} where ${sql.raw(which)}`;
    const orphans = sql`with recursive waiting(number) as (
        select (${first}) union all
        select (${first} and destination > waiting.number) from waiting where waiting.number is not null)
      select waiting.number as destination from waiting where waiting.number is not null
      and not exists (select 1 from ${destinations} where ${destinations.number} = waiting.number)`;
    return db.select({ destination: deliveries.destination }).from(rowsAs(deliveries, orphans));
  });

/** By what is due, and by what waits for earlier deliveries with its order key. */
export const orphanedDestinations = [
  orphaned("due_at is not null and not blocked"),
  orphaned("blocked"),
];

/** Some deliveries to a destination. */
export const deliveriesTo = statement<Pick<StoredDelivery, "destination"> & { limit: number }>()(
  (db, { deliveries }, p) =>
    db
      .select(keyColumns(deliveries))
      .from(deliveries)
      .where(eq(deliveries.destination, p.destination))
      .limit(p.limit),
);

export const deleteOrphan = statement<DeliveryKey>()((db, { deliveries }, p) =>
  db.delete(deliveries).where(sql`${deliveries.event} = ${p.event}
    and ${deliveries.notification} = ${p.notification} and ${deliveries.destination} = ${p.destination}`),
);

export const deleteFailuresTo = statement<Pick<OutgoingDelivery, "destinationId">>()(
  (db, { failedAttempts }, p) =>
    db
      .delete(failedAttempts)
      .where(sql`${failedAttempts.destination} = ${numberOf(p.destinationId)}`),
);

/** Before the destination is deleted, which has its number. */
export const deleteDeliveriesTo = statement<Pick<OutgoingDelivery, "destinationId">>()(
  (db, { deliveries }, p) =>
    db.delete(deliveries).where(sql`${deliveries.destination} = ${numberOf(p.destinationId)}`),
);
