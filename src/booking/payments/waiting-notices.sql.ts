import { and, asc, between, eq, isNotNull, type Placeholder, sql } from "drizzle-orm";

import { idAt, maxTail } from "../../base/ids.ts";
import { allColumns, columnsOf, encoded, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { eventId } from "../../event/event.sql.ts";
import { eventsTable } from "../../event/event.ts";
import type { DeletedEvents } from "../../events/retention/delete-events.ts";
import { paymentsTable } from "../model/payment.ts";

import { type WaitingNotice, waitingNoticesTable } from "./waiting-notice.ts";

const tables = {
  waitingNotices: waitingNoticesTable,
  payments: paymentsTable,
  events: eventsTable,
};
const statement = statementsOver(tables);

export const insertWaitingNotice = statement<WaitingNotice>()((db, { waitingNotices }) =>
  db.insert(waitingNotices).values(allColumns(waitingNotices)).onConflictDoNothing(),
);

/** The notices that operators must be notified of, the next one first. */
export const noticesToNotify = statement<{ limit: number }>()((db, t, p) =>
  db
    .select(columnsOf(t.waitingNotices))
    .from(t.waitingNotices)
    .where(isNotNull(t.waitingNotices.notifyAt))
    .orderBy(asc(t.waitingNotices.notifyAt))
    .limit(p.limit),
);

/** Touches no row if operators were notified, or it has its effect. */
export const endNotifying = statement<Pick<WaitingNotice, "eventId">>()(
  (db, { waitingNotices: { eventId, notifyAt } }, p) =>
    db
      .update(eventId.table)
      .set({ notifyAt: null })
      .where(and(eq(eventId, p.eventId), isNotNull(notifyAt))),
);

/** Touches no row if the notice has its effect already. */
export const deleteWaitingNotice = statement<Pick<WaitingNotice, "eventId">>()(
  (db, { waitingNotices }, p) =>
    db.delete(waitingNotices).where(eq(waitingNotices.eventId, p.eventId)),
);

/** Deletes those of the events between two positions that were deleted. */
export const deleteNoticesOf = statement<DeletedEvents>()((db, t, p, dialect) => {
  const { eventId: id } = t.waitingNotices;
  const idOf = (position: Placeholder, tail: number) =>
    sql.param(position, {
      mapToDriverValue: (value: unknown) => idAt("evt", Number(value), tail),
    });
  const kept = sql`select ${eventId(t, dialect)} from ${t.events} where ${between(t.events.position, p.first, p.last)}`;
  return db
    .delete(t.waitingNotices)
    .where(
      sql`${id} >= ${idOf(p.first, 0)} and ${id} <= ${idOf(p.last, maxTail)} and ${id} not in (${kept})`,
    );
});

/** The notices that wait for a payment, oldest first. */
export const waitingNoticesOf = statement<Pick<WaitingNotice, "provider" | "reference">>()(
  (db, t, p) =>
    db
      .select(waitingColumns(t))
      .from(t.waitingNotices)
      .where(
        and(eq(t.waitingNotices.provider, p.provider), eq(t.waitingNotices.reference, p.reference)),
      )
      .orderBy(asc(t.waitingNotices.createdAt), asc(t.waitingNotices.eventId)),
);

/** The next waiting notices in the order in which they began to wait. */
export const waitingNoticesAfter = statement<{
  afterTime: Date;
  afterId: string;
  limit: number;
}>()((db, t, p) => {
  const { createdAt, eventId } = t.waitingNotices;
  return db
    .select(waitingColumns(t))
    .from(t.waitingNotices)
    .where(sql`(${createdAt}, ${eventId}) > (${encoded(p.afterTime, createdAt)}, ${p.afterId})`)
    .orderBy(asc(createdAt), asc(eventId))
    .limit(p.limit);
});

/**
 * With whether an event about a booking has named the payment. Drizzle omits table names in a select, so that they are
 * written here: without them, each payment would equal itself.
 */
function waitingColumns({ waitingNotices, payments }: TablesOf<typeof tables>) {
  return {
    ...columnsOf(waitingNotices),
    isPaymentKnown:
      sql`exists (select 1 from ${payments} where payments.provider = waiting_notices.provider and payments.reference = waiting_notices.reference)`.mapWith(
        Boolean,
      ),
  };
}
