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
import { allColumns, encoded, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";

const tables = { notifications: notificationsTable, attempts: attemptsTable, events: eventsTable };
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The columns of what the world sees of a notification. */
function notificationColumns({ notifications }: Tables) {
  const { id, eventId, createdAt, title, text, url, severity } = notifications;
  const { status, attemptCount, dueAt, deliveredAt, lastError } = notifications;
  return {
    id,
    eventId,
    createdAt,
    title,
    text,
    url,
    severity,
    status,
    attemptCount,
    dueAt,
    deliveredAt,
    lastError,
  } satisfies Record<keyof Notification, unknown>;
}

/** The columns of what a notifier is given to deliver. */
function leasedColumns({ notifications }: Tables) {
  const { seq, id, eventId, createdAt, title, text, url, severity } = notifications;
  const { attemptCount, leasedUntil } = notifications;
  return { seq, id, eventId, title, text, url, severity, createdAt, attemptCount, leasedUntil };
}

/** The database numbers it: `seq` is left to it. */
export const insertNotification = statement<Notification & { readonly leasedUntil: null }>()(
  (db, { notifications }) => db.insert(notifications).values(allColumns(notifications, "seq")),
);

/**
 * Arms an event's notifications of these statuses again: they are due at once, with all attempts ahead.
 * One that is held stays so: it is being sent in this moment, and not to be sent beside that.
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

/** For a duplicate of the event: its sender is not content. */
export const rescheduleDead = reschedule("dead");

/** For an operator who has mended the gateway and will not wait. */
export const rescheduleUndelivered = reschedule(...undeliveredStatuses);

/**
 * Writes how an attempt ended; touches no row when the lease was lost to another notifier, nor after a
 * failure when it was armed again meanwhile: then it does not have `earlierAttempts` any more.
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

/** Lets go of a notification that was not settled: it is due as it says. */
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

/** After a start nobody holds what the process before held: its leases end now. */
export const releaseLeases = statement()((db, { notifications }) =>
  db
    .update(notifications)
    .set({ leasedUntil: null })
    .where(and(isNotNull(notifications.dueAt), isNotNull(notifications.leasedUntil))),
);

/**
 * For a clock that was put back: what is due after `dueAfter`, or held beyond `heldAfter`, is due now and
 * held by nobody.
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

/** When the next notification that nobody holds becomes due, after `after`. */
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

/** Of many events at once, in the order of their making. */
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
  const { notificationId, startedAt, durationMs, delivered, responseStatus, error } = t.attempts;
  return db
    .select({ notificationId, startedAt, durationMs, delivered, responseStatus, error })
    .from(t.attempts)
    .innerJoin(t.notifications, eq(t.notifications.id, notificationId))
    .where(eq(t.notifications.eventId, p.eventId))
    .orderBy(asc(startedAt));
});

/** What the feed shows next. `until`: the `newestSeq` of an earlier statement, beyond which there are gaps. */
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

/** The place of the newest notification; no row where there never was one. */
export const newestSeq = statement()((db, { notifications }, _, dialect) =>
  db
    .select({ seq: dialect.newestSettled(notifications.seq) })
    .from(notifications)
    .limit(1),
);

/** How much waits and how much was given up; reads the small index of what is not delivered. */
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

/** Why the last attempt failed of the newest notification that is not delivered and was tried. */
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
