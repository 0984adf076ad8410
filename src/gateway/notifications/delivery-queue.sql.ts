import { and, asc, eq, isNotNull, type Placeholder, sql } from "drizzle-orm";

import { encoded, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { notificationsTable } from "../notification.ts";
import { deliveriesTable, type StoredDelivery } from "../outgoing-delivery.ts";

const tables = { deliveries: deliveriesTable, notifications: notificationsTable };
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** No earlier delivery with the order key is unsettled. Drizzle omits table names in a select, so they are here. */
function isNext({ deliveries }: Pick<Tables, "deliveries">) {
  return sql`(${deliveries.orderKey} is null or not exists (
        select 1 from ${deliveries} as earlier
        where earlier.destination_id = deliveries.destination_id and earlier.order_key = deliveries.order_key
        and earlier.due_at is not null and earlier.seq < deliveries.seq))`;
}

/** A delivery with what its destination needs of the notification. */
export type ClaimedDelivery = Pick<
  StoredDelivery,
  "seq" | "notificationId" | "eventId" | "destinationId" | "attemptCount" | "leasedUntil"
>;

/**
 * Leases due deliveries of a destination to one process. Deliveries that another process is leasing at this
 * moment are skipped; a lease that has expired does not count. A delivery with an order key waits until all
 * earlier ones with the key are delivered or dead.
 */
export const claimDue = statement<
  Pick<StoredDelivery, "destinationId"> & { now: Date; leasedUntil: Date; limit: number }
>()((db, { deliveries }, p, dialect) => {
  const { seq, destinationId, notificationId, eventId, dueAt, leasedUntil } = deliveries;
  const now = encoded(p.now, dueAt);
  const due = sql`select ${seq} from ${deliveries}
      where ${destinationId} = ${p.destinationId} and ${dueAt} <= ${now}
      and (${leasedUntil} is null or ${leasedUntil} <= ${now})
      and ${isNext({ deliveries })}
      order by ${dueAt}, ${seq} limit ${p.limit}`;
  return db
    .update(deliveries)
    .set({ leasedUntil: p.leasedUntil })
    .where(dialect.amongUnlocked(seq, due))
    .returning({
      seq,
      destinationId,
      notificationId,
      eventId,
      attemptCount: deliveries.attemptCount,
      leasedUntil,
    });
});

/**
 * Stores the outcome of an attempt. Changes no row if another process has the lease by now, or if the attempt
 * failed and the delivery was rescheduled meanwhile, which resets `earlierAttempts`.
 */
export const settleDelivery = statement<
  Pick<
    StoredDelivery,
    "seq" | "leasedUntil" | "status" | "attemptCount" | "dueAt" | "deliveredAt" | "lastError"
  > & { readonly earlierAttempts: number }
>()((db, { deliveries }, p) =>
  db
    .update(deliveries)
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
        isHeldBy(deliveries, p),
        sql`(${deliveries.attemptCount} = ${encoded(p.earlierAttempts, deliveries.attemptCount)} or ${encoded(p.status, deliveries.status)} = 'delivered')`,
      ),
    ),
);

/** Ends the lease of a delivery that was not settled. Its `dueAt` stays. */
export const releaseDelivery = statement<Pick<StoredDelivery, "seq" | "leasedUntil">>()(
  (db, { deliveries }, p) =>
    db.update(deliveries).set({ leasedUntil: null }).where(isHeldBy(deliveries, p)),
);

function isHeldBy(
  { seq, leasedUntil }: Tables["deliveries"],
  lease: { readonly seq: Placeholder; readonly leasedUntil: Placeholder },
) {
  return and(eq(seq, lease.seq), eq(leasedUntil, encoded(lease.leasedUntil, leasedUntil)));
}

/** Ends all leases. Used at the start of a single process, where remaining leases are stale. */
export const releaseLeases = statement()((db, { deliveries }) =>
  db
    .update(deliveries)
    .set({ leasedUntil: null })
    .where(and(isNotNull(deliveries.dueAt), isNotNull(deliveries.leasedUntil))),
);

/**
 * Used after the clock was set back: deliveries due after `dueAfter` or leased beyond `heldAfter` are due now,
 * without a lease.
 */
export const bringForward = statement<{ now: Date; dueAfter: Date; heldAfter: Date }>()((
  db,
  { deliveries },
  p,
) => {
  const { dueAt, leasedUntil } = deliveries;
  const dueAfter = encoded(p.dueAfter, dueAt);
  const heldAfter = encoded(p.heldAfter, leasedUntil);
  return db
    .update(deliveries)
    .set({ dueAt: encoded(p.now, dueAt), leasedUntil: null })
    .where(sql`${dueAt} is not null and (${dueAt} > ${dueAfter} or ${leasedUntil} > ${heldAfter})`);
});

/** When the next delivery of a destination without a lease at `after` is due. */
export const nextDue = statement<Pick<StoredDelivery, "destinationId"> & { after: Date }>()((
  db,
  { deliveries },
  p,
) => {
  const { dueAt, leasedUntil } = deliveries;
  const after = encoded(p.after, dueAt);
  return db
    .select({ dueAt })
    .from(deliveries)
    .where(
      sql`${deliveries.destinationId} = ${p.destinationId} and ${dueAt} is not null and (${leasedUntil} is null or ${leasedUntil} <= ${after}) and ${isNext({ deliveries })}`,
    )
    .orderBy(asc(dueAt))
    .limit(1);
});

/** The notification of a delivery. */
export const notificationById = statement<{ id: string; eventId: string }>()((
  db,
  { notifications },
  p,
) => {
  const { id, title, text, url, severity, createdAt } = notifications;
  return db
    .select({ id, title, text, url, severity, createdAt })
    .from(notifications)
    .where(and(eq(notifications.eventId, p.eventId), eq(id, p.id)))
    .limit(1);
});
