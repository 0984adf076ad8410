import { and, asc, eq, sql } from "drizzle-orm";

import { pagesOver } from "../db/keyset.ts";
import type { Place } from "../db/place.ts";
import {
  columnsOf,
  type Dialect,
  shownColumns,
  statementsOver,
  type Write,
  write,
} from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";
import { createdAt, eventId } from "../event/event.sql.ts";
import { eventsTable } from "../event/event.ts";

import { nextInLine } from "./delivery-order.sql.ts";
import {
  deliveriesTable,
  type DeliveryWithTitle,
  type OutgoingDelivery,
  shownFields,
  type StoredDelivery,
} from "./delivery.ts";
import { destinationsTable } from "./destination.ts";
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
    id: dialect.idOf("dlv", t.deliveries.notification, t.deliveries.destinationId),
    notificationId: dialect.idOf("ntf", t.deliveries.notification, t.events.tail),
    eventId: eventId(t, dialect),
    createdAt: createdAt(t.deliveries.notification),
  });
}

/** What is stored of a delivery, whose event and notification may be stored with it. */
export interface NewDelivery extends Omit<StoredDelivery, "seq" | "notification" | "event"> {
  readonly notification: Place | number;
  readonly event: Place | number;
}

/** The database assigns `seq`, in the order of the list. Use `storeDeliveries` for those that may have an order key. */
export const insertDeliveries = statement<{ deliveries: readonly NewDelivery[] }>()((
  db,
  { deliveries },
  p,
  dialect,
) => {
  const columns = columnsOf(deliveries);
  const { seq, ...given } = columns;
  const values = Object.keys(columns).map((field) =>
    field === "seq" ? dialect.nextKey(seq) : sql`given.${sql.identifier(field)}`,
  );
  const rows = dialect.rows(p.deliveries, given, "given");
  return db
    .insert(deliveries)
    .select(sql`select ${sql.join(values, sql`, `)} from ${rows} where true`);
});

/** The writes that store deliveries. With an order key, store them blocked: the first becomes due. */
export function storeDeliveries(deliveries: readonly NewDelivery[]): readonly Write<never>[] {
  if (deliveries.length === 0) return [];
  return [
    write(insertDeliveries, { deliveries }),
    ...deliveries.flatMap((delivery) => nextInLine(delivery, delivery.dueAt ?? new Date(0))),
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
  const { seq, destinationId, orderKey, status, event } = deliveries;
  return db
    .select({ seq, destinationId, orderKey, status })
    .from(deliveries)
    .where(and(eq(event, p.event), sql`${status} <> 'delivered'`))
    .orderBy(asc(seq));
});

/** The lines that the undelivered deliveries of these events wait in. */
export const linesOf = statement<OfEvents>()((db, { deliveries }, p, dialect) =>
  db
    .select({ destinationId: deliveries.destinationId, orderKey: deliveries.orderKey })
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
    .innerJoin(destinations, eq(destinations.id, deliveries.destinationId))
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
    .where(eq(t.deliveries.event, p.event))
    .orderBy(asc(t.deliveries.seq)),
);

export const deliveryPages = pagesOver(tables)<DeliveryWithTitle, "destinationId" | "status">({
  table: (t) => t.deliveries,
  position: (t) => t.deliveries.notification,
  key: (t) => t.deliveries.seq,
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

/** The dead deliveries of each destination. Reads the index of dead deliveries. */
export const deadCounts = statement()((db, { deliveries }) => {
  const { destinationId, status } = deliveries;
  return db
    .select({ destinationId, count: sql<number>`count(*)`.mapWith(Number) })
    .from(deliveries)
    .where(sql`${status} = 'dead'`)
    .groupBy(destinationId);
});

/**
 * Destinations that were removed while a delivery to them was stored. Reads one index entry per destination, however
 * many deliveries wait (sqlite.org/lang_with.html: a recursive query that skips to the next value).
 */
const orphaned = (which: string) =>
  statement()((db, { deliveries, destinations }) => {
    const first = sql`select min(destination_id) from ${deliveries} where ${sql.raw(which)}`;
    const orphans = sql`with recursive waiting(id) as (
        select (${first}) union all
        select (${first} and destination_id > waiting.id) from waiting where waiting.id is not null)
      select (select seq from ${deliveries} where destination_id = waiting.id and ${sql.raw(which)} limit 1)
      from waiting where waiting.id is not null
      and not exists (select 1 from ${destinations} where ${destinations.id} = waiting.id)`;
    return db
      .select({ destinationId: deliveries.destinationId })
      .from(deliveries)
      .where(sql`${deliveries.seq} in (${orphans})`);
  });

/** By what is due, and by what waits for earlier deliveries with its order key. */
export const orphanedDestinations = [
  orphaned("due_at is not null and not blocked"),
  orphaned("blocked"),
];

/** Some deliveries to a destination. */
export const deliveriesTo = statement<
  Pick<OutgoingDelivery, "destinationId"> & { limit: number }
>()((db, { deliveries: { destinationId, event }, deliveries }, p) =>
  db
    .select({ destinationId, event })
    .from(deliveries)
    .where(eq(destinationId, p.destinationId))
    .limit(p.limit),
);

export const deleteOrphan = statement<Pick<StoredDelivery, "destinationId" | "event">>()(
  (db, { deliveries }, p) =>
    db
      .delete(deliveries)
      .where(and(eq(deliveries.destinationId, p.destinationId), eq(deliveries.event, p.event))),
);

export const deleteFailuresTo = statement<Pick<OutgoingDelivery, "destinationId">>()(
  (db, { failedAttempts }, p) =>
    db.delete(failedAttempts).where(eq(failedAttempts.destinationId, p.destinationId)),
);

export const deleteDeliveriesTo = statement<Pick<OutgoingDelivery, "destinationId">>()(
  (db, { deliveries }, p) =>
    db.delete(deliveries).where(eq(deliveries.destinationId, p.destinationId)),
);
