import { asc, type Column, type SQL, sql } from "drizzle-orm";

import { encoded, statementsOver, type Write, write } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { createdAt } from "../../event/event.sql.ts";
import { hasKeyOf, keyColumns } from "../model/deliveries.sql.ts";
import { firstInGroup } from "../model/delivery-order.sql.ts";
import { deliveriesTable, type DeliveryKey, type StoredDelivery } from "../model/delivery.ts";
import { type Destination, destinationsTable } from "../model/destination.ts";
import { healthIsContended } from "../model/destinations.sql.ts";
import { notificationsTable } from "../model/notification.ts";

const tables = {
  deliveries: deliveriesTable,
  notifications: notificationsTable,
  destinations: destinationsTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/**
 * No earlier delivery with the order key is unsettled. Those that are not blocked meet this, unless an earlier one is
 * being rescheduled. Drizzle omits table names in a select, so they are here.
 */
function isNext({ deliveries }: Pick<Tables, "deliveries">) {
  const group = {
    destination: sql`deliveries.destination`,
    orderKey: sql`deliveries.order_key`,
  };
  // In two parts, because each has an index.
  const isAfter = (which: "blocked" | "not blocked") =>
    sql`coalesce(${firstInGroup({ deliveries }, which, group)} < deliveries.notification, false)`;
  return sql`(${deliveries.orderKey} is null or not (${isAfter("blocked")} or ${isAfter("not blocked")}))`;
}

/** A delivery with what its destination needs of the notification. */
export type ClaimedDelivery = Pick<
  StoredDelivery,
  keyof DeliveryKey | "orderKey" | "attemptCount" | "dueAt" | "leasedUntil" | "afterDead"
>;

const claim = (isDue: (dueAt: Column, now: SQL) => SQL) =>
  statement<
    Pick<StoredDelivery, "destination"> & { now: Date; leasedUntil: Date; limit: number }
  >()((db, { deliveries }, p, dialect) => {
    const { destination, notification, event, orderKey, dueAt, leasedUntil } = deliveries;
    const now = encoded(p.now, dueAt);
    const due = sql`select ${event} as due_event, ${notification} as due_notification from ${deliveries}
      where ${destination} = ${p.destination} and ${isDue(dueAt, now)} and not ${deliveries.blocked}
      and (${leasedUntil} is null or ${leasedUntil} <= ${now})
      and ${isNext({ deliveries })}
      order by ${dueAt}, ${notification} limit ${p.limit}`;
    return db
      .update(deliveries)
      .set({ leasedUntil: p.leasedUntil })
      .from(dialect.unlocked(due, "due"))
      .where(
        sql`${event} = due.due_event and ${notification} = due.due_notification and ${destination} = ${p.destination}`,
      )
      .returning({
        event,
        notification,
        destination,
        orderKey,
        attemptCount: deliveries.attemptCount,
        dueAt,
        leasedUntil,
        afterDead: deliveries.afterDead,
      });
  });

/**
 * Leases due deliveries of a destination to one process. Deliveries that another process is leasing at this
 * moment are skipped; a lease that has expired does not count. A delivery with an order key waits until all
 * earlier ones with the key are delivered or dead.
 */
export const claimDue = claim((dueAt, now) => sql`${dueAt} <= ${now}`);

/** The same for those that are due first, whether they are due or not. Used for a probe. */
export const claimFirst = claim((dueAt) => sql`${dueAt} is not null`);

/**
 * Takes the turn to probe a destination until `openUntil`: one instance does, if something waits. Touches no row if
 * another instance has the turn, or the circuit closed.
 */
export const takeProbe = statement<Pick<Destination, "id"> & { now: Date; openUntil: Date }>()(
  (db, { destinations, deliveries }, p) => {
    const { id, failures, openUntil, failingSince } = destinations;
    const now = encoded(p.now, openUntil);
    return db
      .update(destinations)
      .set({ openUntil: p.openUntil })
      .where(
        sql`${id} = ${p.id} and ${openUntil} <= ${now} and exists (
        select 1 from ${deliveries} as waiting where waiting.destination = ${destinations.number} and waiting.due_at is not null
        and not waiting.blocked and (waiting.leased_until is null or waiting.leased_until <= ${now}))`,
      )
      .returning({ failures, openUntil, failingSince });
  },
  healthIsContended,
);

/** A delivery that this process holds. */
type Lease = DeliveryKey & Pick<StoredDelivery, "leasedUntil">;

/** The outcome of an attempt. `earlierAttempts`: the attempts of the delivery when it was claimed. */
export type SettledDelivery = Lease &
  Pick<
    StoredDelivery,
    | "status"
    | "attemptCount"
    | "dueAt"
    | "deliveredAt"
    | "lastError"
    | "startedAt"
    | "durationMs"
    | "responseStatus"
  > & {
    readonly earlierAttempts: number;
  };

/**
 * Stores the outcomes of attempts. Changes no row if another process has the lease by now, or if the attempt
 * failed and the delivery was rescheduled meanwhile, which resets `earlierAttempts`.
 */
export const settleDeliveries = statement<{ settled: readonly SettledDelivery[] }>()((
  db,
  { deliveries },
  p,
  dialect,
) => {
  const { leasedUntil, status, attemptCount, dueAt, deliveredAt, lastError } = deliveries;
  const { startedAt, durationMs, responseStatus } = deliveries;
  const success = { startedAt, durationMs, responseStatus };
  const outcome = { status, attemptCount, dueAt, deliveredAt, lastError, ...success };
  const given = {
    ...keyColumns(deliveries),
    leasedUntil,
    ...outcome,
    earlierAttempts: attemptCount,
  };
  return db
    .update(deliveries)
    .set({
      status: sql`settled.status`,
      attemptCount: sql`settled."attemptCount"`,
      dueAt: sql`settled."dueAt"`,
      blocked: sql`${deliveries.blocked} and settled.status = 'retrying'`,
      deliveredAt: sql`settled."deliveredAt"`,
      lastError: sql`settled."lastError"`,
      startedAt: sql`settled."startedAt"`,
      durationMs: sql`settled."durationMs"`,
      responseStatus: sql`settled."responseStatus"`,
      leasedUntil: null,
    })
    .from(dialect.rows(p.settled, given, "settled"))
    .where(
      sql`${hasKeyOf(deliveries, "settled")} and ${leasedUntil} = settled."leasedUntil"
        and (${attemptCount} = settled."earlierAttempts" or settled.status = 'delivered')`,
    );
});

/** See `releaseWrites`. */
const releaseDeliveries = statement<{ leases: readonly Lease[] }>()((
  db,
  { deliveries },
  p,
  dialect,
) => {
  const { leasedUntil } = deliveries;
  return db
    .update(deliveries)
    .set({ leasedUntil: null })
    .from(dialect.rows(p.leases, { ...keyColumns(deliveries), leasedUntil }, "held"))
    .where(sql`${hasKeyOf(deliveries, "held")} and ${leasedUntil} = held."leasedUntil"`);
});

/** The write that ends the leases of deliveries that were not settled, if there are any. Their `dueAt` stays. */
export function releaseWrites(leases: readonly Lease[]): readonly Write<never>[] {
  return leases.length === 0 ? [] : [write(releaseDeliveries, { leases })];
}

/**
 * Ends the leases to HTTP destinations, except those of blocked deliveries. Used at the start of a single process, where
 * remaining leases are stale. The others expire, so that a message that ended the process does not end it again at once.
 */
export const releaseLeases = statement()((db, { deliveries, destinations }) =>
  db
    .update(deliveries)
    .set({ leasedUntil: null })
    .where(
      sql`${deliveries.dueAt} is not null and not ${deliveries.blocked} and ${deliveries.leasedUntil} is not null
        and ${deliveries.destination} not in (select number from ${destinations} where transport <> 'http')`,
    ),
);

/**
 * Used after the clock was set back: deliveries due after `dueAfter` or leased beyond `heldAfter` are due now,
 * without a lease. Blocked ones become due when they are unblocked.
 */
export const bringForward = statement<{ now: Date; dueAfter: Date; heldAfter: Date }>()((
  db,
  { deliveries },
  p,
) => {
  const { dueAt, leasedUntil, blocked } = deliveries;
  const dueAfter = encoded(p.dueAfter, dueAt);
  const heldAfter = encoded(p.heldAfter, leasedUntil);
  return db
    .update(deliveries)
    .set({ dueAt: encoded(p.now, dueAt), leasedUntil: null })
    .where(
      sql`${dueAt} is not null and not ${blocked} and (${dueAt} > ${dueAfter} or ${leasedUntil} > ${heldAfter})`,
    );
});

/** When the next delivery of a destination without a lease at `after` is due. */
export const nextDue = statement<Pick<StoredDelivery, "destination"> & { after: Date }>()((
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
      sql`${deliveries.destination} = ${p.destination} and ${dueAt} is not null and not ${deliveries.blocked} and (${leasedUntil} is null or ${leasedUntil} <= ${after}) and ${isNext({ deliveries })}`,
    )
    .orderBy(asc(dueAt), asc(deliveries.notification))
    .limit(1);
});

/** The destinations with a delivery that is due at `until`. Reads one index entry for each; for `exists`, PostgreSQL could read all. */
export const destinationsDue = statement<{ until: Date }>()(
  (db, { destinations, deliveries: { dueAt } }, p) =>
    db
      .select({ id: destinations.id })
      .from(destinations)
      .where(
        sql`(select 1 from deliveries where deliveries.destination = destinations.number and deliveries.due_at <= ${encoded(p.until, dueAt)} and not deliveries.blocked order by deliveries.due_at limit 1) = 1`,
      ),
);

/** What is sent of notifications, without their ids, which have the tails of their events. */
export const notificationsToSend = statement<{
  positions: readonly StoredDelivery["notification"][];
}>()((db, { notifications }, p, dialect) => {
  const { position, title, text, url, severity } = notifications;
  return db
    .select({ position, title, text, url, severity, createdAt: createdAt(position) })
    .from(notifications)
    .where(dialect.among(position, p.positions));
});
