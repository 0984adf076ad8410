import { and, asc, eq, gt, inArray, isNotNull, lte, type Placeholder, sql } from "drizzle-orm";

import {
  type Attempt,
  type Notification,
  type NotificationStatus,
  type StoredNotification,
  undeliveredStatuses,
  notificationsTable,
  attemptsTable,
} from "../notification.ts";

import { eventsTable } from "../event.ts";
import { pagesOver } from "../../db/keyset.ts";
import { allColumns, columnsExcept, encoded, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";

const tables = { notifications: notificationsTable, attempts: attemptsTable, events: eventsTable };
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The public columns of a notification. */
function notificationColumns({ notifications }: Tables) {
  const hidden = { seq: true, leasedUntil: true };
  return columnsExcept(notifications, hidden) satisfies Record<keyof Notification, unknown>;
}

/** The columns that a notifier needs for a delivery. */
function leasedColumns({ notifications }: Tables) {
  const { seq, id, eventId, createdAt, title, text, url, severity } = notifications;
  const { attemptCount, leasedUntil } = notifications;
  return { seq, id, eventId, title, text, url, severity, createdAt, attemptCount, leasedUntil };
}

/** The database assigns `seq`. */
export const insertNotification = statement<Notification & { readonly leasedUntil: null }>()(
  (db, { notifications }) => db.insert(notifications).values(allColumns(notifications, "seq")),
);

/**
 * Reschedules an event's notifications with these statuses: they are due at once, with all attempts left.
 * Does not end leases: a leased notification is being sent, and must not be sent twice at the same time.
 */
const reschedule = (...statuses: readonly NotificationStatus[]) =>
  statement<{ eventId: Notification["eventId"]; now: Date }>()((db, { notifications }, p) =>
    db
      .update(notifications)
      .set({
        status: "pending",
        attemptCount: 0,
        dueAt: encoded(p.now, notifications.dueAt),
      })
      .where(
        and(eq(notifications.eventId, p.eventId), inArray(notifications.status, [...statuses])),
      )
      .returning({ id: notifications.id }),
  );

/** Used for a duplicate of the event. */
export const rescheduleDead = reschedule("dead");

/** Used for an operator's replay. */
export const rescheduleUndelivered = reschedule(...undeliveredStatuses);

/**
 * Stores the outcome of an attempt. Changes no row if another notifier has the lease by now, or if the
 * attempt failed and the notification was rescheduled meanwhile, which resets `earlierAttempts`.
 */
export const settleNotification = statement<
  Pick<
    StoredNotification,
    "seq" | "leasedUntil" | "status" | "attemptCount" | "dueAt" | "deliveredAt" | "lastError"
  > & { readonly earlierAttempts: number }
>()((db, { notifications }, p) =>
  db
    .update(notifications)
    .set({
      status: p.status,
      attemptCount: p.attemptCount,
      dueAt: p.dueAt,
      deliveredAt: p.deliveredAt,
      lastError: p.lastError,
      leasedUntil: null,
    })
    .where(
      and(
        isHeldBy(notifications, p),
        sql`(${notifications.attemptCount} = ${encoded(p.earlierAttempts, notifications.attemptCount)} or ${encoded(p.status, notifications.status)} = 'delivered')`,
      ),
    ),
);

/**
 * Leases due notifications to one notifier. Notifications that another notifier is leasing at this moment
 * are skipped; a lease that has expired does not count.
 */
export const claimDue = statement<{ now: Date; leasedUntil: Date; limit: number }>()((
  db,
  t,
  p,
  dialect,
) => {
  const { seq, dueAt, leasedUntil } = t.notifications;
  const now = encoded(p.now, dueAt);
  const due = sql`select ${seq} from ${t.notifications}
      where ${dueAt} <= ${now} and (${leasedUntil} is null or ${leasedUntil} <= ${now})
      order by ${dueAt} limit ${p.limit}`;
  return db
    .update(t.notifications)
    .set({ leasedUntil: p.leasedUntil })
    .where(dialect.amongUnlocked(seq, due))
    .returning(leasedColumns(t));
});

/** Ends the lease of a notification that was not settled. Its `dueAt` stays. */
export const releaseNotification = statement<Pick<StoredNotification, "seq" | "leasedUntil">>()(
  (db, { notifications }, p) =>
    db.update(notifications).set({ leasedUntil: null }).where(isHeldBy(notifications, p)),
);

function isHeldBy(
  { seq, leasedUntil }: Tables["notifications"],
  lease: { readonly seq: Placeholder; readonly leasedUntil: Placeholder },
) {
  return and(eq(seq, lease.seq), eq(leasedUntil, encoded(lease.leasedUntil, leasedUntil)));
}

export const insertAttempt = statement<Attempt>()((db, { attempts }) =>
  db.insert(attempts).values(allColumns(attempts)),
);

/** Ends all leases. Used at the start of a single process, where remaining leases are stale. */
export const releaseLeases = statement()((db, { notifications }) =>
  db
    .update(notifications)
    .set({ leasedUntil: null })
    .where(and(isNotNull(notifications.dueAt), isNotNull(notifications.leasedUntil))),
);

/**
 * Used after the clock was set back: notifications due after `dueAfter` or leased beyond `heldAfter` are
 * due now, without a lease.
 */
export const bringForward = statement<{ now: Date; dueAfter: Date; heldAfter: Date }>()((
  db,
  { notifications },
  p,
) => {
  const { dueAt, leasedUntil } = notifications;
  const dueAfter = encoded(p.dueAfter, dueAt);
  const heldAfter = encoded(p.heldAfter, leasedUntil);
  return db
    .update(notifications)
    .set({ dueAt: encoded(p.now, dueAt), leasedUntil: null })
    .where(sql`${dueAt} is not null and (${dueAt} > ${dueAfter} or ${leasedUntil} > ${heldAfter})`);
});

/** When the next notification without a lease at `after` is due. */
export const nextDue = statement<{ after: Date }>()((db, { notifications }, p) => {
  const { dueAt, leasedUntil } = notifications;
  const after = encoded(p.after, dueAt);
  return db
    .select({ dueAt })
    .from(notifications)
    .where(sql`${dueAt} is not null and (${leasedUntil} is null or ${leasedUntil} <= ${after})`)
    .orderBy(asc(dueAt))
    .limit(1);
});

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
    .select(columnsExcept(t.attempts, {}))
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
