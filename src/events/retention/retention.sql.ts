import { and, asc, between, type Column, gt, isNotNull, lte, sql } from "drizzle-orm";

import { type Dialect, encoded, type Parameters, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { eventsTable } from "../../event/event.ts";
import { idempotencyTable } from "../../identity/idempotency/idempotency.ts";
import { deliveriesTable } from "../../outbound/model/delivery.ts";
import { failedAttemptsTable, notificationsTable } from "../../outbound/model/notification.ts";
import { eventWordsTable } from "../event-index.ts";

const tables = {
  events: eventsTable,
  eventWords: eventWordsTable,
  deliveries: deliveriesTable,
  notifications: notificationsTable,
  failedAttempts: failedAttemptsTable,
  idempotency: idempotencyTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The oldest events after a position, up to another. */
export const eventsUntil = statement<{ after: number; until: number; limit: number }>()(
  (db, t, p) =>
    db
      .select({ position: t.events.position })
      .from(t.events)
      .where(and(gt(t.events.position, p.after), lte(t.events.position, p.until)))
      .orderBy(asc(t.events.position))
      .limit(p.limit),
);

/** The events between two positions, inclusive. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** A batch of events: one statement deletes what belongs to all of them from a table. */
interface These {
  readonly positions: readonly number[];
}

/** Deletes the bodies of events. The events stay. */
export const deleteBodies = statement<These>()((db, { events }, p, dialect) =>
  db
    .update(events)
    .set({ body: sql`null` })
    .where(and(dialect.among(events.position, p.positions), isNotNull(events.body))),
);

/** The events at these positions that can be deleted. */
export const settledEvents = statement<These>()((db, tables, p, dialect) =>
  db
    .select({ position: tables.events.position })
    .from(tables.events)
    .where(areSettled(tables, p, dialect)),
);

/**
 * Locks the rows of events on PostgreSQL before they are deleted. A statement sees only data committed before it
 * began: without the lock, a delete that waited for a replay would miss the replay's notification.
 */
export const lockSettledEvents = statement<These>()((db, tables, p, dialect) =>
  db
    .select({ position: tables.events.position })
    .from(tables.events)
    // The where clause is the last one. Unlike an update, this writes no row.
    .where(sql`${areSettled(tables, p, dialect)} for update`),
);

/**
 * Deletes events, but none with a notification that is undelivered or dead, or whose body another item of its delivery
 * needs.
 */
export const deleteSettledEvents = statement<These>()((db, tables, p, dialect) =>
  db.delete(tables.events).where(areSettled(tables, p, dialect)),
);

function areSettled(t: Tables, p: Parameters<These>, dialect: Dialect) {
  const { events } = t;
  return and(
    dialect.among(events.position, p.positions),
    isDelivered(t, events.position),
    // Raw names: the table is read a second time.
    sql`not exists (select 1 from ${events} as item where item.body_of = ${events.position})`,
  );
}

/** True for an event without a delivery to the operators that is not delivered. */
function isDelivered({ deliveries }: Tables, event: Column) {
  return sql`not exists (select 1 from ${deliveries} where ${deliveries.event} = ${event} and ${deliveries.status} <> 'delivered' and ${deliveries.ownerId} is null)`;
}

/** True for what belongs to those of the events that are deleted by now. */
function isOfDeleted({ events }: Tables, event: Column, p: Parameters<These>, dialect: Dialect) {
  return sql`${dialect.among(event, p.positions)} and not exists (select 1 from ${events} where ${events.position} = ${event})`;
}

export const deleteAttemptsOf = statement<These>()((db, t, p, dialect) =>
  db
    .delete(t.failedAttempts)
    .where(
      sql`${t.failedAttempts.notification} in (select ${t.notifications.position} from ${t.notifications} where ${isOfDeleted(t, t.notifications.event, p, dialect)})`,
    ),
);

export const deleteDeliveriesOf = statement<These>()((db, t, p, dialect) =>
  db.delete(t.deliveries).where(isOfDeleted(t, t.deliveries.event, p, dialect)),
);

export const deleteNotificationsOf = statement<These>()((db, t, p, dialect) =>
  db.delete(t.notifications).where(isOfDeleted(t, t.notifications.event, p, dialect)),
);

/** Deletes words. Contended, so that no instance stores words of an event that is being deleted. */
export const deleteWordsOf = statement<These>()(
  (db, t, p, dialect) =>
    db.delete(t.eventWords).where(isOfDeleted(t, t.eventWords.rowid, p, dialect)),
  { contended: () => ({ table: eventWordsTable, ids: [0] }) },
);

/** The notifications of events. */
export const notificationsAmong = statement<These>()((db, { notifications }, p, dialect) =>
  db
    .select({ position: notifications.position })
    .from(notifications)
    .where(dialect.among(notifications.event, p.positions)),
);

/** Deletes the notifications of those of the events whose notifications are all delivered. The events stay. */
export const deleteSettledNotifications = statement<Range>()((db, t, p) =>
  db
    .delete(t.notifications)
    .where(
      and(between(t.notifications.event, p.first, p.last), isDelivered(t, t.notifications.event)),
    ),
);

const isWithoutNotification = ({ notifications }: Tables, notification: Column) =>
  sql`not exists (select 1 from ${notifications} where ${notifications.position} = ${notification})`;

/** Deletes the deliveries of events whose notifications are deleted by now. */
export const deleteDeliveriesWithout = statement<Range>()((db, t, p) =>
  db
    .delete(t.deliveries)
    .where(
      and(
        between(t.deliveries.event, p.first, p.last),
        isWithoutNotification(t, t.deliveries.notification),
      ),
    ),
);

/** Deletes the attempts of those of the notifications that are deleted by now. */
export const deleteAttemptsWithout = statement<These>()((db, t, p, dialect) =>
  db
    .delete(t.failedAttempts)
    .where(
      sql`${dialect.among(t.failedAttempts.notification, p.positions)} and ${isWithoutNotification(t, t.failedAttempts.notification)}`,
    ),
);

/** Deletes at most `limit` expired keys. */
export const deleteExpiredKeys = statement<{ now: Date; limit: number }>()(
  (db, { idempotency }, p) =>
    db
      .delete(idempotency)
      .where(
        sql`(${idempotency.scope}, ${idempotency.key}) in (select ${idempotency.scope}, ${idempotency.key} from ${idempotency} where ${idempotency.expiresAt} <= ${encoded(p.now, idempotency.expiresAt)} limit ${p.limit})`,
      ),
);
