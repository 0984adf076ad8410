import { and, asc, eq, sql } from "drizzle-orm";

import { allColumns, columnsOf, encoded, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { paymentsTable } from "../payment.ts";
import { type WaitingRefund, waitingRefundsTable } from "../waiting-refund.ts";

const tables = { waitingRefunds: waitingRefundsTable, payments: paymentsTable };
const statement = statementsOver(tables);

export const insertWaitingRefund = statement<WaitingRefund>()((db, { waitingRefunds }) =>
  db.insert(waitingRefunds).values(allColumns(waitingRefunds)).onConflictDoNothing(),
);

/** Touches no row if the refund has its effect already. */
export const deleteWaitingRefund = statement<Pick<WaitingRefund, "eventId">>()(
  (db, { waitingRefunds }, p) =>
    db.delete(waitingRefunds).where(eq(waitingRefunds.eventId, p.eventId)),
);

/** The refunds that wait for a payment, oldest first. */
export const waitingRefundsOf = statement<Pick<WaitingRefund, "provider" | "reference">>()(
  (db, t, p) =>
    db
      .select(waitingColumns(t))
      .from(t.waitingRefunds)
      .where(
        and(eq(t.waitingRefunds.provider, p.provider), eq(t.waitingRefunds.reference, p.reference)),
      )
      .orderBy(asc(t.waitingRefunds.createdAt), asc(t.waitingRefunds.eventId)),
);

/** The next waiting refunds in the order in which they began to wait. */
export const waitingRefundsAfter = statement<{
  afterTime: Date;
  afterId: string;
  limit: number;
}>()((db, t, p) => {
  const { createdAt, eventId } = t.waitingRefunds;
  return db
    .select(waitingColumns(t))
    .from(t.waitingRefunds)
    .where(sql`(${createdAt}, ${eventId}) > (${encoded(p.afterTime, createdAt)}, ${p.afterId})`)
    .orderBy(asc(createdAt), asc(eventId))
    .limit(p.limit);
});

/**
 * With whether an event about a booking has named the payment. Drizzle omits table names in a select, so that they are
 * written here: without them, each payment would equal itself.
 */
function waitingColumns({ waitingRefunds, payments }: TablesOf<typeof tables>) {
  return {
    ...columnsOf(waitingRefunds),
    isPaymentKnown:
      sql`exists (select 1 from ${payments} where payments.provider = waiting_refunds.provider and payments.reference = waiting_refunds.reference)`.mapWith(
        Boolean,
      ),
  };
}
