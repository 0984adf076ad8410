import { and, asc, type Column, eq, gt, lte, type Placeholder, type SQL, sql } from "drizzle-orm";

import { pagesOver } from "../db/keyset.ts";
import {
  allColumns,
  columnsOf,
  shownColumns,
  type Sql,
  statementsOver,
  write,
} from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";
import { eventsTable } from "../event/event.ts";
import { severities } from "../event/new-notification.ts";

import { deliveriesTable } from "./delivery.ts";
import type { Destination } from "./destination.ts";
import {
  type Attempt,
  attemptsTable,
  type Notification,
  notificationSchema,
  notificationsTable,
} from "./notification.ts";

const tables = {
  notifications: notificationsTable,
  attempts: attemptsTable,
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

/** The public columns of a notification. */
function notificationColumns({ notifications }: Tables) {
  return shownColumns(notifications, notificationSchema.properties);
}

/** The database assigns `seq`. */
export const insertNotification = statement<Notification>()((db, { notifications }) =>
  db.insert(notifications).values(allColumns(notifications, "seq")),
);

/** Sums up the deliveries to the operators' destinations, and stores what has changed. */
function summarise(db: Sql, t: Tables, which: SQL, except: SQL = sql``) {
  const { seq, id, eventId, createdAt, ...notification } = t.notifications;
  const { status, attemptCount, dueAt, deliveredAt, lastError, ...delivery } = t.deliveries;
  const worst = sql`max(case ${status} when 'dead' then 3 when 'retrying' then 2 when 'pending' then 1 else 0 end)`;
  const sums = sql`(select ${seq} as seq,
      case ${worst} when 3 then 'dead' when 2 then 'retrying' when 1 then 'pending' else 'delivered' end as status,
      coalesce(max(${attemptCount}), 0) as attempt_count, min(${dueAt}) as due_at,
      case when ${worst} > 0 then null else coalesce(max(${deliveredAt}), max(${createdAt})) end as delivered_at,
      max(${lastError}) as last_error
    from ${t.notifications} left join ${t.deliveries} on ${delivery.eventId} = ${eventId}
      and ${delivery.notificationId} = ${id} and ${delivery.ownerId} is null${except}
    where ${which} group by ${seq}) as sums`;
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
        sql`${seq} = sums.seq and (${notification.status}, ${notification.attemptCount}, ${notification.dueAt}, ${notification.deliveredAt}, ${notification.lastError})
        is distinct from (sums.status, sums.attempt_count, sums.due_at, sums.delivered_at, sums.last_error)`,
      )
  );
}

interface OfEvents {
  readonly eventIds: readonly Notification["eventId"][];
}

const lockNotifications = statement<OfEvents>()(
  (db, { notifications }, p, dialect) => {
    const { seq, eventId } = notifications;
    const ofEvents = sql`select ${seq} from ${notifications} where ${dialect.among(eventId, p.eventIds)}`;
    return db.select({ seq }).from(notifications).where(dialect.locked(seq, ofEvents));
  },
  // Deliveries of an event to several destinations end at the same time.
  { contended: ({ eventIds }) => ({ table: notificationsTable, ids: eventIds }) },
);

/** See `summaryWrites`. */
export const summariseNotifications = statement<OfEvents>()((db, t, p, dialect) =>
  summarise(db, t, dialect.among(t.notifications.eventId, p.eventIds)),
);

/**
 * Sums up the deliveries of events in their notifications, in the transaction that changes a delivery. Locks
 * the notifications first: a PostgreSQL statement that waits for a row reads other tables as they were before,
 * and would overwrite the newer sum of the transaction that it waited for.
 */
export function summaryWrites(eventIds: OfEvents["eventIds"]) {
  return [write(lockNotifications, { eventIds }), write(summariseNotifications, { eventIds })];
}

/** Sums up what remains without a destination. Run it before its deliveries are deleted. */
export const summariseWithout = statement<{ destinationId: Destination["id"] }>()((db, t, p) => {
  const { destinationId, eventId, status } = t.deliveries;
  const concerned = sql`${t.notifications.status} <> 'delivered' and ${t.notifications.eventId} in (select ${eventId} from ${t.deliveries} where ${destinationId} = ${p.destinationId} and ${status} <> 'delivered')`;
  return summarise(db, t, concerned, sql` and ${destinationId} <> ${p.destinationId}`);
});

export const insertAttempts = statement<{ attempts: readonly Attempt[] }>()(
  (db, { attempts }, p, dialect) =>
    db
      .insert(attempts)
      .select(sql`select * from ${dialect.rows(p.attempts, columnsOf(attempts), "given")}`),
);

/** The notifications of several events, in the order of creation. */
export const notificationsOfEvents = statement<OfEvents>()((db, t, p, dialect) =>
  db
    .select(notificationColumns(t))
    .from(t.notifications)
    .where(dialect.among(t.notifications.eventId, p.eventIds))
    .orderBy(asc(t.notifications.seq)),
);

export const notificationsByIds = statement<{ ids: readonly Notification["id"][] }>()(
  (db, t, p, dialect) =>
    db
      .select(notificationColumns(t))
      .from(t.notifications)
      .where(dialect.among(t.notifications.id, p.ids)),
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

/** Of this severity or a higher one. */
export const notificationPages = pagesOver(tables)<Notification, "status" | "severity">({
  table: (t) => t.notifications,
  select: (db, t) => db.select(notificationColumns(t)).from(t.notifications),
  conditions: { severity: (t, least) => hasSeverity(t.notifications.severity, least) },
  uncommon: { filter: "status", common: "delivered" },
});

/** Of exactly this severity. */
export const notificationPagesOfSeverity = pagesOver(tables)<Notification, "status" | "severity">({
  table: (t) => t.notifications,
  select: (db, t) => db.select(notificationColumns(t)).from(t.notifications),
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
  table: ({
    deliveries: { createdAt, notificationId: id, destinationId, status },
    notifications: { severity },
  }) => ({ createdAt, id, destination: destinationId, status, severity }),
  conditions: {
    severity: ({ deliveries: { notificationId, eventId } }, least) =>
      sql`exists (select 1 from notifications sent where sent.event_id = ${eventId} and sent.id = ${notificationId}
        and ${hasSeverity(sql`sent.severity`, least)})`,
  },
  key: (t) => t.deliveries.seq,
  select: (db, t) => db.select(notificationColumns(t)).from(t.deliveries),
  join: (query, { notifications, deliveries }) =>
    query.innerJoin(
      notifications,
      sql`${notifications.eventId} = ${deliveries.eventId} and ${notifications.id} = ${deliveries.notificationId}`,
    ),
  uncommon: { filter: "status", common: "delivered" },
  indexed: ["destination"],
});
