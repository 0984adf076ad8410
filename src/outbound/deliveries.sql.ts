import { and, asc, eq, sql } from "drizzle-orm";

import { pagesOver } from "../db/keyset.ts";
import { columnsOf, shownColumns, statementsOver, type Write, write } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";

import { nextInLine } from "./delivery-order.sql.ts";
import {
  deliveriesTable,
  type DeliveryWithTitle,
  type OutgoingDelivery,
  shownFields,
  type StoredDelivery,
} from "./delivery.ts";
import { destinationsTable } from "./destination.ts";
import { attemptsTable, notificationsTable } from "./notification.ts";

const tables = {
  deliveries: deliveriesTable,
  notifications: notificationsTable,
  destinations: destinationsTable,
  attempts: attemptsTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The public columns of a delivery. */
function deliveryColumns({ deliveries }: Tables) {
  return shownColumns(deliveries, shownFields);
}

type NewDelivery = Omit<StoredDelivery, "seq">;

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
    ...deliveries.flatMap((delivery) => nextInLine(delivery, delivery.createdAt)),
  ];
}

/** The deliveries of an event that are not delivered, with their statuses and order keys. */
export const undeliveredOf = statement<Pick<OutgoingDelivery, "eventId">>()((
  db,
  { deliveries },
  p,
) => {
  const { seq, destinationId, orderKey, status, eventId } = deliveries;
  return db
    .select({ seq, destinationId, orderKey, status })
    .from(deliveries)
    .where(and(eq(eventId, p.eventId), sql`${status} <> 'delivered'`))
    .orderBy(asc(seq));
});

/** The lines that the undelivered deliveries of these events wait in. */
export const linesOf = statement<{ eventIds: readonly OutgoingDelivery["eventId"][] }>()(
  (db, { deliveries }, p, dialect) =>
    db
      .select({ destinationId: deliveries.destinationId, orderKey: deliveries.orderKey })
      .from(deliveries)
      .where(
        sql`${dialect.among(deliveries.eventId, p.eventIds)} and ${deliveries.status} <> 'delivered' and ${deliveries.orderKey} is not null`,
      ),
);

/** The events of these that have a delivery which failed for good. */
export const deadAmong = statement<{ eventIds: readonly OutgoingDelivery["eventId"][] }>()(
  (db, { deliveries }, p, dialect) =>
    db
      .select({ eventId: deliveries.eventId })
      .from(deliveries)
      .where(
        and(dialect.among(deliveries.eventId, p.eventIds), sql`${deliveries.status} = 'dead'`),
      ),
);

/** How many of these events each of the operators' destinations has received. */
export const receivedBy = statement<{ eventIds: readonly OutgoingDelivery["eventId"][] }>()(
  (db, { deliveries, destinations }, p, dialect) =>
    db
      .select({
        destinationId: destinations.id,
        destination: destinations.name,
        events: sql<number>`count(distinct ${deliveries.eventId})`.mapWith(Number),
      })
      .from(deliveries)
      .innerJoin(destinations, eq(destinations.id, deliveries.destinationId))
      .where(
        sql`${dialect.among(deliveries.eventId, p.eventIds)} and ${deliveries.status} = 'delivered' and ${deliveries.ownerId} is null`,
      )
      .groupBy(destinations.id, destinations.name)
      .orderBy(asc(destinations.name)),
);

export const deliveriesOfEvent = statement<Pick<OutgoingDelivery, "eventId">>()((db, t, p) =>
  db
    .select(deliveryColumns(t))
    .from(t.deliveries)
    .where(eq(t.deliveries.eventId, p.eventId))
    .orderBy(asc(t.deliveries.seq)),
);

export const deliveryPages = pagesOver(tables)<DeliveryWithTitle, "destinationId" | "status">({
  table: (t) => t.deliveries,
  key: (t) => t.deliveries.seq,
  uncommon: { filter: "status", common: "delivered" },
  select: (db, t) =>
    db
      .select({
        ...deliveryColumns(t),
        title: t.notifications.title,
        severity: t.notifications.severity,
      })
      .from(t.deliveries)
      .innerJoin(
        t.notifications,
        sql`${t.notifications.eventId} = ${t.deliveries.eventId} and ${t.notifications.id} = ${t.deliveries.notificationId}`,
      ),
  indexed: ["destinationId"],
});

/** The attempts to deliver several notifications to one destination, oldest first. */
export const attemptsTo = statement<{
  destinationId: OutgoingDelivery["destinationId"];
  notificationIds: readonly OutgoingDelivery["notificationId"][];
}>()((db, { attempts }, p, dialect) =>
  db
    .select(columnsOf(attempts))
    .from(attempts)
    .where(
      and(
        dialect.among(attempts.notificationId, p.notificationIds),
        eq(attempts.destinationId, p.destinationId),
      ),
    )
    .orderBy(asc(attempts.startedAt)),
);

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
>()((db, { deliveries: { destinationId, eventId }, deliveries }, p) =>
  db
    .select({ destinationId, eventId })
    .from(deliveries)
    .where(eq(destinationId, p.destinationId))
    .limit(p.limit),
);

export const deleteOrphan = statement<Pick<OutgoingDelivery, "destinationId" | "eventId">>()(
  (db, { deliveries }, p) =>
    db
      .delete(deliveries)
      .where(and(eq(deliveries.destinationId, p.destinationId), eq(deliveries.eventId, p.eventId))),
);

export const deleteDeliveriesTo = statement<Pick<OutgoingDelivery, "destinationId">>()(
  (db, { deliveries }, p) =>
    db.delete(deliveries).where(eq(deliveries.destinationId, p.destinationId)),
);
