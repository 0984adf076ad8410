import { and, asc, type Column, eq, isNotNull, lte, sql } from "drizzle-orm";

import { type Dialect, encoded, type Parameters, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { type Event, eventsTable } from "../../event/event.ts";
import { idempotencyTable } from "../../identity/idempotency/idempotency.ts";
import { deliveriesTable } from "../../outbound/delivery.ts";
import { attemptsTable, notificationsTable } from "../../outbound/notification.ts";
import { type DeliveryState, eventStatesTable } from "../event-index.ts";

const tables = {
  events: eventsTable,
  eventStates: eventStatesTable,
  deliveries: deliveriesTable,
  notifications: notificationsTable,
  attempts: attemptsTable,
  idempotency: idempotencyTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

interface Walked {
  readonly afterTime: Date;
  readonly afterId: string;
  readonly until: Date;
  readonly limit: number;
}

/** The oldest events after a position, up to a time. */
export const eventsUntil = statement<Walked>()((db, { events }, p) =>
  db
    .select({ id: events.id, createdAt: events.createdAt })
    .from(events)
    .where(isWalked(events, p))
    .orderBy(asc(events.createdAt), asc(events.id))
    .limit(p.limit),
);

/**
 * The same for the events of one state. Their index passes over all others: dead events are kept for as long as they
 * are dead, and there may be many.
 */
export const eventsOfStateUntil = statement<Walked & { readonly state: DeliveryState }>()(
  (db, { eventStates }, p) =>
    db
      .select({ id: eventStates.id, createdAt: eventStates.createdAt })
      .from(eventStates)
      .where(and(eq(eventStates.delivery, p.state), isWalked(eventStates, p)))
      .orderBy(asc(eventStates.createdAt), asc(eventStates.id))
      .limit(p.limit),
);

function isWalked(
  { createdAt, id }: Readonly<Record<"createdAt" | "id", Column>>,
  p: Parameters<Walked>,
) {
  return and(
    sql`(${createdAt}, ${id}) > (${encoded(p.afterTime, createdAt)}, ${p.afterId})`,
    lte(createdAt, encoded(p.until, createdAt)),
  );
}

/** A batch of events: one statement deletes what belongs to all of them from a table. */
interface These {
  readonly ids: readonly Event["id"][];
}

/** Deletes the bodies of events. The events stay. */
export const deleteBodies = statement<These>()((db, { events }, p, dialect) =>
  db
    .update(events)
    .set({ body: sql`null` })
    .where(and(dialect.among(events.id, p.ids), isNotNull(events.body))),
);

/**
 * Locks the rows of events on PostgreSQL before they are deleted. A statement sees only data committed before it
 * began: without the lock, a delete that waited for a replay would miss the replay's notification.
 */
export const lockSettledEvents = statement<These>()((db, tables, p, dialect) =>
  db
    .select({ id: tables.events.id })
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

function areSettled({ events, notifications }: Tables, p: Parameters<These>, dialect: Dialect) {
  return and(
    dialect.among(events.id, p.ids),
    sql`not exists (select 1 from ${notifications} where ${notifications.eventId} = ${events.id} and ${notifications.status} <> 'delivered')`,
    // Raw names: the table is read a second time.
    sql`not exists (select 1 from ${events} as item where item.body_of = ${events.id})`,
  );
}

/** True for what belongs to those of the events that are deleted by now. */
function isOfDeleted({ events }: Tables, eventId: Column, p: Parameters<These>, dialect: Dialect) {
  return sql`${dialect.among(eventId, p.ids)} and not exists (select 1 from ${events} where ${events.id} = ${eventId})`;
}

export const deleteAttemptsOf = statement<These>()((db, t, p, dialect) =>
  db
    .delete(t.attempts)
    .where(
      sql`${t.attempts.notificationId} in (select ${t.notifications.id} from ${t.notifications} where ${isOfDeleted(t, t.notifications.eventId, p, dialect)})`,
    ),
);

export const deleteDeliveriesOf = statement<These>()((db, t, p, dialect) =>
  db.delete(t.deliveries).where(isOfDeleted(t, t.deliveries.eventId, p, dialect)),
);

export const deleteNotificationsOf = statement<These>()((db, t, p, dialect) =>
  db.delete(t.notifications).where(isOfDeleted(t, t.notifications.eventId, p, dialect)),
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
