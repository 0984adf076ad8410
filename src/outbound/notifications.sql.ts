import {
  and,
  asc,
  type Column,
  desc,
  eq,
  gt,
  lte,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";

import { positionsPerMs, timeOfPosition } from "../base/ids.ts";
import { pagesOver } from "../db/keyset.ts";
import type { Place } from "../db/place.ts";
import {
  allColumns,
  columnsOf,
  type Dialect,
  type Select,
  shownColumns,
  type Sql,
  statementsOver,
  write,
} from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";
import { createdAt, eventId } from "../event/event.sql.ts";
import { eventsTable } from "../event/event.ts";
import { severities } from "../event/new-notification.ts";

import { deliveriesTable } from "./delivery.ts";
import type { Destination } from "./destination.ts";
import {
  type FailedAttempt,
  failedAttemptsTable,
  type Notification,
  notificationSchema,
  notificationsTable,
  type StoredNotification,
} from "./notification.ts";

const tables = {
  notifications: notificationsTable,
  failedAttempts: failedAttemptsTable,
  deliveries: deliveriesTable,
  events: eventsTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The place of a severity in their order. */
export const rankOf = (severity: SQL) =>
  sql`case ${severity} ${sql.raw(severities.map((word, rank) => `when '${word}' then ${rank}`).join(" "))} end`;

/** Whether a column has this severity or a higher one. No index answers it. */
export function hasSeverity(column: Column | SQL, least: Placeholder): SQL {
  return sql`${rankOf(sql`${column}`)} >= ${rankOf(sql`${least}`)}`;
}

/** The place of a status in their order, from `delivered` to `dead`. */
export const statusRank = (status: Column | SQL) =>
  sql`case ${status} when 'dead' then 3 when 'retrying' then 2 when 'pending' then 1 else 0 end`;

/** The public fields of a notification. Join its event: `withEvent`. */
function notificationColumns(t: Tables, dialect: Dialect) {
  return shownColumns(t.notifications, notificationSchema.properties, {
    id: dialect.idOf("ntf", t.notifications.position, t.events.tail),
    createdAt: createdAt(t.notifications.position),
    eventId: eventId(t, dialect),
  });
}

const withEvent = <Row>(query: Select<Row>, { notifications, events }: Tables) =>
  query.innerJoin(events, eq(events.position, notifications.event));

/** What is stored of a notification, of a stored event or of one that its transaction stores. */
export interface PlacedNotification extends Omit<StoredNotification, "position" | "event"> {
  /** That of its event if it is stored with it, as the first one. Otherwise the storage assigns it. */
  readonly position: Place;
  readonly event: Place | number;
}

export const insertNotification = statement<PlacedNotification>()(
  (db, { notifications }) => db.insert(notifications).values(allColumns(notifications)),
  { place: ({ position, event }) => (position === event ? null : position) },
);

/** Sums up the deliveries to the operators' destinations, and stores what has changed. */
function summarise(db: Sql, t: Tables, which: SQL, except: SQL = sql``) {
  const { position, event, ...notification } = t.notifications;
  const { status, attemptCount, dueAt, deliveredAt, lastError, ...delivery } = t.deliveries;
  const worst = sql`max(${statusRank(status)})`;
  const sums = sql`(select ${position} as position,
      case ${worst} when 3 then 'dead' when 2 then 'retrying' when 1 then 'pending' else 'delivered' end as status,
      coalesce(max(${attemptCount}), 0) as attempt_count, min(${dueAt}) as due_at,
      case when ${worst} > 0 then null else coalesce(max(${deliveredAt}), max(${position}) / ${sql.raw(String(positionsPerMs))}) end as delivered_at,
      max(${lastError}) as last_error
    from ${t.notifications} left join ${t.deliveries} on ${delivery.event} = ${event}
      and ${delivery.notification} = ${position} and ${delivery.ownerId} is null${except}
    where ${which} group by ${position}) as sums`;
  return (
    db
      .update(t.notifications)
      .set({
        status: sql`sums.status`,
        attemptCount: sql`sums.attempt_count`,
        dueAt: sql`sums.due_at`,
        deliveredAt: sql`sums.delivered_at`,
        lastError: sql`sums.last_error`,
      })
      .from(sums)
      // Most deliveries to one of many destinations change nothing.
      .where(
        sql`${position} = sums.position and (${notification.status}, ${notification.attemptCount}, ${notification.dueAt}, ${notification.deliveredAt}, ${notification.lastError})
        is distinct from (sums.status, sums.attempt_count, sums.due_at, sums.delivered_at, sums.last_error)`,
      )
  );
}

/** Of the events at these positions. */
interface OfEvents {
  readonly events: readonly number[];
}

const lockNotifications = statement<OfEvents>()(
  (db, { notifications }, p, dialect) => {
    const { position, event } = notifications;
    const ofEvents = sql`select ${position} from ${notifications} where ${dialect.among(event, p.events)}`;
    return db.select({ position }).from(notifications).where(dialect.locked(position, ofEvents));
  },
  // Deliveries of an event to several destinations end at the same time.
  { contended: ({ events }) => ({ table: notificationsTable, ids: events.map(String) }) },
);

/** See `summaryWrites`. */
export const summariseNotifications = statement<OfEvents>()((db, t, p, dialect) =>
  summarise(db, t, dialect.among(t.notifications.event, p.events)),
);

/**
 * Sums up the deliveries of events in their notifications, in the transaction that changes a delivery. Locks
 * the notifications first: a PostgreSQL statement that waits for a row reads other tables as they were before,
 * and would overwrite the newer sum of the transaction that it waited for.
 */
export function summaryWrites(events: OfEvents["events"]) {
  return [write(lockNotifications, { events }), write(summariseNotifications, { events })];
}

/** Sums up what remains without a destination. Run it before its deliveries are deleted. */
export const summariseWithout = statement<{ destinationId: Destination["id"] }>()((db, t, p) => {
  const { destinationId, event, status } = t.deliveries;
  const concerned = sql`${t.notifications.status} <> 'delivered' and ${t.notifications.event} in (select ${event} from ${t.deliveries} where ${destinationId} = ${p.destinationId} and ${status} <> 'delivered')`;
  return summarise(db, t, concerned, sql` and ${destinationId} <> ${p.destinationId}`);
});

export const insertFailures = statement<{ attempts: readonly FailedAttempt[] }>()(
  (db, { failedAttempts }, p, dialect) =>
    db
      .insert(failedAttempts)
      .select(sql`select * from ${dialect.rows(p.attempts, columnsOf(failedAttempts), "given")}`),
);

/** The notifications of several events, in the order of creation. */
export const notificationsOfEvents = statement<OfEvents>()((db, t, p, dialect) =>
  withEvent(db.select(notificationColumns(t, dialect)).from(t.notifications), t)
    .where(dialect.among(t.notifications.event, p.events))
    .orderBy(asc(t.notifications.position)),
);

export const notificationsAt = statement<{ positions: readonly number[] }>()((db, t, p, dialect) =>
  withEvent(db.select(notificationColumns(t, dialect)).from(t.notifications), t).where(
    dialect.among(t.notifications.position, p.positions),
  ),
);

/** The next notifications of the feed. `until`: an earlier `newestSeq`, beyond which there may be gaps. */
export const feedAfter = statement<{ seq: number; until: number; limit: number }>()(
  (db, t, p, dialect) =>
    db
      .select({
        seq: t.notifications.position,
        id: dialect.idOf("ntf", t.notifications.position, t.events.tail),
        createdAt: createdAt(t.notifications.position),
        title: t.notifications.title,
        text: t.notifications.text,
        url: t.notifications.url,
        severity: t.notifications.severity,
        eventId: eventId(t, dialect),
        provider: t.events.provider,
        type: t.events.type,
      })
      .from(t.notifications)
      .innerJoin(t.events, eq(t.events.position, t.notifications.event))
      .where(and(gt(t.notifications.position, p.seq), lte(t.notifications.position, p.until)))
      .orderBy(asc(t.notifications.position))
      .limit(p.limit),
);

/** Like `newestStored`, for notifications. */
export const newestStoredNotification = statement()((db, { notifications: { position } }) =>
  db.select({ position }).from(position.table).orderBy(desc(position)).limit(1),
);

/** Like `newestPosition`, for notifications. */
export const newestNotification = statement()((db, { notifications }, _, dialect) =>
  db
    .select({ position: dialect.newestSettled(notifications.position) })
    .from(notifications)
    .limit(1),
);

/** Counts the undelivered notifications by status. Reads the small index of undelivered notifications. */
export const undelivered = statement()((db, { notifications }) =>
  db
    .select({
      status: notifications.status,
      count: sql<number>`count(*)`.mapWith(Number),
      oldest: sql<Date>`min(${notifications.position})`.mapWith(timeOfPosition),
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
    .orderBy(desc(notifications.position))
    .limit(1),
);

/** Of this severity or a higher one. */
export const notificationPages = pagesOver(tables)<Notification, "status" | "severity">({
  table: (t) => t.notifications,
  position: (t) => t.notifications.position,
  select: (db, t, dialect) => db.select(notificationColumns(t, dialect)).from(t.notifications),
  join: withEvent,
  conditions: { severity: (t, least) => hasSeverity(t.notifications.severity, least) },
  uncommon: { filter: "status", common: "delivered" },
});

/** Of exactly this severity. */
export const notificationPagesOfSeverity = pagesOver(tables)<Notification, "status" | "severity">({
  table: (t) => t.notifications,
  position: (t) => t.notifications.position,
  select: (db, t, dialect) => db.select(notificationColumns(t, dialect)).from(t.notifications),
  join: withEvent,
  uncommon: { filter: "severity", common: "info" },
});

/**
 * What was sent to a destination, with the status of the delivery there as a filter. A delivery is as old as its
 * notification, so the index of deliveries has the order of the list.
 */
export const sentNotificationPages = pagesOver(tables)<
  Notification,
  "destination" | "status" | "severity"
>({
  table: ({ deliveries: { destinationId, status }, notifications: { severity } }) => ({
    destination: destinationId,
    status,
    severity,
  }),
  position: (t) => t.deliveries.notification,
  conditions: {
    severity: ({ deliveries: { notification } }, least) =>
      sql`exists (select 1 from notifications sent where sent.position = ${notification}
        and ${hasSeverity(sql`sent.severity`, least)})`,
  },
  key: (t) => t.deliveries.seq,
  select: (db, t, dialect) => db.select(notificationColumns(t, dialect)).from(t.deliveries),
  join: (query, { notifications, deliveries, events }) =>
    query
      .innerJoin(notifications, eq(notifications.position, deliveries.notification))
      .innerJoin(events, eq(events.position, deliveries.event)),
  uncommon: { filter: "status", common: "delivered" },
  indexed: ["destination"],
});
