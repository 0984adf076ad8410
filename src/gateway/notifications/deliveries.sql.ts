import { and, asc, eq, inArray, sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import { allColumns, columnsExcept, encoded, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { destinationsTable } from "../destination.ts";
import {
  attemptsTable,
  type NotificationStatus,
  notificationsTable,
  undeliveredStatuses,
} from "../notification.ts";
import {
  deliveriesTable,
  type DeliveryWithTitle,
  type OutgoingDelivery,
  type StoredDelivery,
} from "../outgoing-delivery.ts";

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
  const hidden = { seq: true, ownerId: true, orderKey: true, leasedUntil: true };
  return columnsExcept(deliveries, hidden) satisfies Record<keyof OutgoingDelivery, unknown>;
}

/** The database assigns `seq`. */
export const insertDelivery = statement<Omit<StoredDelivery, "seq">>()((db, { deliveries }) =>
  db.insert(deliveries).values(allColumns(deliveries, "seq")),
);

/**
 * Reschedules an event's deliveries with these statuses: they are due at once, with all attempts left. Does
 * not end leases: a leased delivery is being sent, and must not be sent twice at the same time.
 */
const reschedule = (...statuses: readonly NotificationStatus[]) =>
  statement<Pick<OutgoingDelivery, "eventId"> & { now: Date }>()((db, { deliveries }, p) =>
    db
      .update(deliveries)
      .set({ status: "pending", attemptCount: 0, dueAt: encoded(p.now, deliveries.dueAt) })
      .where(and(eq(deliveries.eventId, p.eventId), inArray(deliveries.status, [...statuses])))
      .returning({ id: deliveries.id }),
  );

/** Used for a duplicate of the event. */
export const rescheduleDead = reschedule("dead");

/** Used for an operator's replay. */
export const rescheduleUndelivered = reschedule(...undeliveredStatuses);

/** Makes the retries of a destination due now, because it has recovered. */
export const retryNow = statement<Pick<StoredDelivery, "destinationId"> & { now: Date }>()(
  (db, { deliveries }, p) =>
    db
      .update(deliveries)
      .set({ dueAt: encoded(p.now, deliveries.dueAt) })
      .where(
        and(
          eq(deliveries.destinationId, p.destinationId),
          sql`${deliveries.dueAt} > ${encoded(p.now, deliveries.dueAt)}`,
        ),
      ),
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
    .select(columnsExcept(attempts, {}))
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

/** Unsettled deliveries whose destination was removed while they were stored. */
export const orphanedDeliveries = statement<{ limit: number }>()(
  (db, { deliveries, destinations }, p) =>
    db
      .select({ destinationId: deliveries.destinationId, eventId: deliveries.eventId })
      .from(deliveries)
      .where(
        sql`${deliveries.dueAt} is not null and not exists (select 1 from ${destinations} where ${destinations.id} = ${deliveries.destinationId})`,
      )
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

export const deleteDeliveriesOf = statement<Pick<OutgoingDelivery, "eventId">>()(
  (db, { deliveries }, p) => db.delete(deliveries).where(eq(deliveries.eventId, p.eventId)),
);
