import { and, asc, eq, isNotNull, lte, type Placeholder, sql } from "drizzle-orm";

import { encoded, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { type Event, eventsTable } from "../../event/event.ts";
import { idempotencyTable } from "../../identity/idempotency/idempotency.ts";
import { attemptsTable, notificationsTable } from "../../outbound/notification.ts";

const tables = {
  events: eventsTable,
  notifications: notificationsTable,
  attempts: attemptsTable,
  idempotency: idempotencyTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The oldest events after a position, up to a time. */
export const eventsUntil = statement<{
  afterTime: Date;
  afterId: string;
  until: Date;
  limit: number;
}>()((db, { events }, p) =>
  db
    .select({ id: events.id, createdAt: events.createdAt })
    .from(events)
    .where(
      and(
        sql`(${events.createdAt}, ${events.id}) > (${encoded(p.afterTime, events.createdAt)}, ${p.afterId})`,
        lte(events.createdAt, encoded(p.until, events.createdAt)),
      ),
    )
    .orderBy(asc(events.createdAt), asc(events.id))
    .limit(p.limit),
);

/** Deletes the body of an event. The event stays. */
export const deleteBody = statement<Pick<Event, "id">>()((db, { events }, p) =>
  db
    .update(events)
    .set({ body: sql`null` })
    .where(and(eq(events.id, p.id), isNotNull(events.body))),
);

/**
 * Locks the row of an event before it is deleted. A PostgreSQL statement sees only data committed before it
 * began: without the lock, a delete that waited for a replay would miss the replay's notification.
 */
export const lockSettledEvent = statement<Pick<Event, "id">>()((db, tables, p) =>
  db
    .update(tables.events)
    .set({ duplicates: sql`${tables.events.duplicates}` })
    .where(isSettled(tables, p.id)),
);

/**
 * Deletes an event. Changes no row while a notification of it is undelivered or dead, or another item of its delivery
 * needs its body.
 */
export const deleteSettledEvent = statement<Pick<Event, "id">>()((db, tables, p) =>
  db.delete(tables.events).where(isSettled(tables, p.id)),
);

function isSettled({ events, notifications }: Tables, id: Placeholder) {
  return and(
    eq(events.id, id),
    sql`not exists (select 1 from ${notifications} where ${notifications.eventId} = ${events.id} and ${notifications.status} <> 'delivered')`,
    // Raw names: the table is read a second time.
    sql`not exists (select 1 from ${events} as item where item.body_of = ${events.id})`,
  );
}

export const deleteAttemptsOf = statement<{ eventId: string }>()(
  (db, { attempts, notifications }, p) =>
    db
      .delete(attempts)
      .where(
        sql`${attempts.notificationId} in (select ${notifications.id} from ${notifications} where ${notifications.eventId} = ${p.eventId})`,
      ),
);

export const deleteNotificationsOf = statement<{ eventId: string }>()((db, { notifications }, p) =>
  db.delete(notifications).where(eq(notifications.eventId, p.eventId)),
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
