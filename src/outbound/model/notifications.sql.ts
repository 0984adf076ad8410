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

import { positionsPerMs, timeOfPosition } from "../../base/ids.ts";
import { pagesOver } from "../../db/keyset.ts";
import type { Place } from "../../db/place.ts";
import {
  allColumns,
  columnsOf,
  type Dialect,
  rowsAs,
  type Select,
  shownColumns,
  statementsOver,
} from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { createdAt, eventId } from "../../event/event.sql.ts";
import { eventsTable } from "../../event/event.ts";
import { severities } from "../../event/new-notification.ts";

import { deliveriesTable } from "./delivery.ts";
import { numberOf } from "./destinations.sql.ts";
import {
  type FailedAttempt,
  failedAttemptsTable,
  type Notification,
  notificationSchema,
  notificationsTable,
  type NotificationStatus,
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

/** In their order, which says which of two is worse. */
const statusesByRank = ["delivered", "pending", "retrying", "dead"] as const;

/** The place of a status in their order. */
export const statusRank = (status: Column | SQL | Placeholder) =>
  sql`case ${status} ${sql.raw(statusesByRank.map((word, rank) => `when '${word}' then ${rank}`).join(" "))} end`;

function statusOf(rank: unknown): NotificationStatus {
  return statusesByRank[Number(rank)] ?? "dead";
}

/** In a query of notifications: its deliveries to the operators' destinations, as `sent`. */
const toOperators = sql.raw(
  "from deliveries sent where sent.event = notifications.event and sent.notification = notifications.position and sent.owner_id is null",
);
/** The worst of its deliveries to the operators' destinations: `delivered` without one, because it is in the feed. */
const worst = sql`coalesce((select max(${statusRank(sql`sent.status`)}) ${toOperators}), 0)`;

/** The public fields of a notification, with those that its deliveries make up. Join its event: `withEvent`. */
function notificationColumns(t: Tables, dialect: Dialect) {
  const { dueAt, deliveredAt } = t.deliveries;
  const { position } = t.notifications;
  const settledAt = sql`coalesce(max(sent.delivered_at), ${position} / ${sql.raw(String(positionsPerMs))})`;
  const max = (field: string) => sql`(select max(sent.${sql.raw(field)}) ${toOperators})`;
  return shownColumns(t.notifications, notificationSchema.properties, {
    id: dialect.idOf("ntf", position, t.events.tail),
    createdAt: createdAt(position),
    eventId: eventId(t, dialect),
    status: sql<NotificationStatus>`${worst}`.mapWith(statusOf),
    attemptCount: sql<number>`coalesce(${max("attempt_count")}, 0)`.mapWith(Number),
    dueAt: sql<Date | null>`(select min(sent.due_at) ${toOperators})`.mapWith(dueAt),
    deliveredAt:
      sql<Date | null>`case when ${worst} = 0 then (select ${settledAt} ${toOperators}) end`.mapWith(
        deliveredAt,
      ),
    lastError: sql<string | null>`${max("last_error")}`,
  });
}

const withEvent = <Row>(query: Select<Row>, { notifications, events }: Tables) =>
  query.innerJoin(events, eq(events.position, notifications.event));

/** Joins a delivery to its notification and event. */
const withSent = <Row>(query: Select<Row>, { notifications, deliveries, events }: Tables) =>
  query
    .innerJoin(notifications, eq(notifications.position, deliveries.notification))
    .innerJoin(events, eq(events.position, deliveries.event));

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

interface OfEvents {
  readonly events: readonly number[];
}

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

/** Counts the undelivered notifications by status. Reads the small index of what is not delivered. */
export const countUndelivered = statement()((db, { deliveries }) => {
  const { notification, status, ownerId } = deliveries;
  const open = sql`select ${notification} as position, max(${statusRank(status)}) as rank from ${deliveries}
    where ${status} <> 'delivered' and ${ownerId} is null group by ${notification}`;
  return db
    .select({
      status: sql<NotificationStatus>`rank`.mapWith(statusOf),
      count: sql<number>`count(*)`.mapWith(Number),
      oldest: sql<Date>`min(position)`.mapWith(timeOfPosition),
    })
    .from(rowsAs(deliveries, open))
    .groupBy(sql`rank`);
});

/** The last error of the newest undelivered notification that was attempted. */
export const newestFailure = statement()((db, { deliveries }) =>
  db
    .select({ lastError: deliveries.lastError })
    .from(deliveries)
    .where(
      sql`${deliveries.status} <> 'delivered' and ${deliveries.ownerId} is null and ${deliveries.lastError} is not null`,
    )
    .orderBy(desc(deliveries.notification))
    .limit(1),
);

/**
 * Notifications that are not delivered, by the index of such deliveries. `open`: the status of a delivery; `status`: the
 * same, so that no other one is worse.
 */
export const openNotificationPages = pagesOver(tables)<
  Notification,
  "open" | "status" | "severity"
>({
  table: ({ deliveries: { status }, notifications: { severity } }) => ({
    open: status,
    status,
    severity,
  }),
  position: (t) => t.deliveries.notification,
  select: (db, t, dialect) => db.select(notificationColumns(t, dialect)).from(t.deliveries),
  join: withSent,
  always: ({ deliveries }) => sql`${deliveries.ownerId} is null`,
  conditions: {
    severity: (t, least) => hasSeverity(t.notifications.severity, least),
    status: ({ deliveries }, value) =>
      sql`${worst} = ${statusRank(value)} and not exists (select 1 ${toOperators}
        and sent.status = ${value} and sent.destination < ${deliveries.destination})`,
  },
  uncommon: { filter: "open", common: "delivered" },
  indexed: ["open"],
});

/** All notifications, or those of exactly one severity. */
export const notificationPages = pagesOver(tables)<Notification, "status" | "severity">({
  table: ({ deliveries: { status }, notifications: { severity } }) => ({ status, severity }),
  position: (t) => t.notifications.position,
  select: (db, t, dialect) => db.select(notificationColumns(t, dialect)).from(t.notifications),
  join: withEvent,
  conditions: { status: (_, value) => sql`${worst} = ${statusRank(value)}` },
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
  table: ({ deliveries: { destination, status }, notifications: { severity } }) => ({
    destination,
    status,
    severity,
  }),
  position: (t) => t.deliveries.notification,
  conditions: {
    destination: ({ deliveries: { destination } }, id) => sql`${destination} = ${numberOf(id)}`,
    severity: ({ deliveries: { notification } }, least) =>
      sql`exists (select 1 from notifications sent where sent.position = ${notification}
        and ${hasSeverity(sql`sent.severity`, least)})`,
  },
  key: (t) => t.deliveries.notification,
  select: (db, t, dialect) => db.select(notificationColumns(t, dialect)).from(t.deliveries),
  join: withSent,
  uncommon: { filter: "status", common: "delivered" },
  indexed: ["destination"],
});
