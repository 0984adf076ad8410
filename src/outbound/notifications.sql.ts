import { and, asc, eq, gt, lte, type SQL, sql } from "drizzle-orm";

import { pagesOver } from "../db/keyset.ts";
import { allColumns, columnsOf, shownColumns, statementsOver, write } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";
import { eventsTable } from "../event/event.ts";

import { deliveriesTable } from "./delivery.ts";
import type { Destination } from "./destination.ts";
import {
  type Attempt,
  attemptsTable,
  type Notification,
  notificationSchema,
  notificationsTable,
  type NotificationStatus,
} from "./notification.ts";

const tables = {
  notifications: notificationsTable,
  attempts: attemptsTable,
  deliveries: deliveriesTable,
  events: eventsTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The public columns of a notification. */
function notificationColumns({ notifications }: Tables) {
  return shownColumns(notifications, notificationSchema.properties);
}

/** The database assigns `seq`. */
export const insertNotification = statement<Notification>()((db, { notifications }) =>
  db.insert(notifications).values(allColumns(notifications, "seq")),
);

/** What a notification's columns are by its deliveries to the operators' destinations, without one of these. */
function summaryOf({ notifications, deliveries }: Tables, except: SQL = sql``) {
  const ofNotification = sql`from ${deliveries} where ${deliveries.eventId} = ${notifications.eventId} and ${deliveries.notificationId} = ${notifications.id} and ${deliveries.ownerId} is null${except}`;
  const has = (status: NotificationStatus) =>
    sql`exists (select 1 ${ofNotification} and ${deliveries.status} = ${sql.raw(`'${status}'`)})`;
  const [dead, retrying, pending] = [has("dead"), has("retrying"), has("pending")];
  return {
    status: sql`case when ${dead} then 'dead' when ${retrying} then 'retrying' when ${pending} then 'pending' else 'delivered' end`,
    attemptCount: sql`coalesce((select max(${deliveries.attemptCount}) ${ofNotification}), 0)`,
    dueAt: sql`(select min(${deliveries.dueAt}) ${ofNotification})`,
    deliveredAt: sql`case when ${dead} or ${retrying} or ${pending} then null else coalesce((select max(${deliveries.deliveredAt}) ${ofNotification}), ${notifications.createdAt}) end`,
    lastError: sql`(select max(${deliveries.lastError}) ${ofNotification})`,
  };
}

const lockNotifications = statement<Pick<Notification, "eventId">>()(
  (db, { notifications }, p) =>
    db
      .update(notifications)
      .set({ status: sql`${notifications.status}` })
      .where(eq(notifications.eventId, p.eventId)),
  // Deliveries of an event to several destinations end at the same time.
  { contended: ({ eventId }) => ({ table: notificationsTable, id: eventId }) },
);

/** See `summaryWrites`. */
export const summariseNotifications = statement<Pick<Notification, "eventId">>()((db, t, p) =>
  db.update(t.notifications).set(summaryOf(t)).where(eq(t.notifications.eventId, p.eventId)),
);

/**
 * Sums up the deliveries of an event in its notifications, in the transaction that changes a delivery. Locks
 * the notifications first: a PostgreSQL statement that waits for a row reads other tables as they were before,
 * and would overwrite the newer sum of the transaction that it waited for.
 */
export function summaryWrites(eventId: Notification["eventId"]) {
  return [write(lockNotifications, { eventId }), write(summariseNotifications, { eventId })];
}

/** Sums up what remains without a destination. Run it before its deliveries are deleted. */
export const summariseWithout = statement<{ destinationId: Destination["id"] }>()((db, t, p) =>
  db
    .update(t.notifications)
    .set(summaryOf(t, sql` and ${t.deliveries.destinationId} <> ${p.destinationId}`))
    .where(
      sql`${t.notifications.status} <> 'delivered' and ${t.notifications.eventId} in (select ${t.deliveries.eventId} from ${t.deliveries} where ${t.deliveries.destinationId} = ${p.destinationId} and ${t.deliveries.status} <> 'delivered')`,
    ),
);

export const insertAttempt = statement<Attempt>()((db, { attempts }) =>
  db.insert(attempts).values(allColumns(attempts)),
);

export const notificationsOfEvent = statement<Pick<Notification, "eventId">>()((db, t, p) =>
  db
    .select(notificationColumns(t))
    .from(t.notifications)
    .where(eq(t.notifications.eventId, p.eventId))
    .orderBy(asc(t.notifications.seq)),
);

/** The notifications of several events, in the order of creation. */
export const notificationsOfEvents = statement<{
  eventIds: readonly Notification["eventId"][];
}>()((db, t, p, dialect) =>
  db
    .select(notificationColumns(t))
    .from(t.notifications)
    .where(dialect.among(t.notifications.eventId, p.eventIds))
    .orderBy(asc(t.notifications.seq)),
);

export const attemptsOfEvent = statement<Pick<Notification, "eventId">>()((db, t, p) => {
  const { notificationId, startedAt } = t.attempts;
  return db
    .select(columnsOf(t.attempts))
    .from(t.attempts)
    .innerJoin(t.notifications, eq(t.notifications.id, notificationId))
    .where(eq(t.notifications.eventId, p.eventId))
    .orderBy(asc(startedAt));
});

/** The next notifications of the feed. `until`: an earlier `newestSeq`, beyond which there may be gaps. */
export const feedAfter = statement<{ seq: number; until: number; limit: number }>()((db, t, p) =>
  db
    .select({
      seq: t.notifications.seq,
      id: t.notifications.id,
      createdAt: t.notifications.createdAt,
      title: t.notifications.title,
      text: t.notifications.text,
      url: t.notifications.url,
      severity: t.notifications.severity,
      eventId: t.notifications.eventId,
      provider: t.events.provider,
      type: t.events.type,
    })
    .from(t.notifications)
    .innerJoin(t.events, eq(t.events.id, t.notifications.eventId))
    .where(and(gt(t.notifications.seq, p.seq), lte(t.notifications.seq, p.until)))
    .orderBy(asc(t.notifications.seq))
    .limit(p.limit),
);

/** The position of the newest notification. No row if there never was one. */
export const newestSeq = statement()((db, { notifications }, _, dialect) =>
  db
    .select({ seq: dialect.newestSettled(notifications.seq) })
    .from(notifications)
    .limit(1),
);

/** Counts the undelivered notifications by status. Reads the small index of undelivered notifications. */
export const undelivered = statement()((db, { notifications }) =>
  db
    .select({
      status: notifications.status,
      count: sql<number>`count(*)`.mapWith(Number),
      oldest: sql<number>`min(${notifications.createdAt})`.mapWith(Number),
    })
    .from(notifications)
    .where(sql`${notifications.status} <> 'delivered'`)
    .groupBy(notifications.status),
);

/** The last error of the newest undelivered notification that was attempted. */
export const newestFailure = statement()((db, { notifications }) =>
  db
    .select({ lastError: notifications.lastError })
    .from(notifications)
    .where(sql`${notifications.status} <> 'delivered' and ${notifications.lastError} is not null`)
    .orderBy(sql`${notifications.createdAt} desc`, sql`${notifications.id} desc`)
    .limit(1),
);

export const notificationPages = pagesOver(tables)<Notification, "status">({
  table: (t) => t.notifications,
  select: (db, t) => db.select(notificationColumns(t)).from(t.notifications),
  uncommon: { filter: "status", common: "delivered" },
});

/**
 * What was sent to a destination, with the status of the delivery there as a filter. A delivery is as old as its
 * notification, so the index of deliveries has the order of the list.
 */
export const sentNotificationPages = pagesOver(tables)<Notification, "destination" | "status">({
  table: ({ deliveries: { createdAt, notificationId: id, destinationId, status } }) => ({
    createdAt,
    id,
    destination: destinationId,
    status,
  }),
  select: (db, t) => db.select(notificationColumns(t)).from(t.deliveries),
  join: (query, { notifications, deliveries }) =>
    query.innerJoin(
      notifications,
      sql`${notifications.eventId} = ${deliveries.eventId} and ${notifications.id} = ${deliveries.notificationId}`,
    ),
  uncommon: { filter: "status", common: "delivered" },
  indexed: ["destination"],
});
