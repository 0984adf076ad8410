import { and, eq, inArray, sql } from "drizzle-orm";

import { encoded, statementsOver } from "../../db/statement.ts";
import { eventsTable } from "../../event/event.ts";
import { hasKeyOf, keyColumns } from "../model/deliveries.sql.ts";
import { deliveriesTable, type DeliveryKey, type StoredDelivery } from "../model/delivery.ts";
import type { Destination } from "../model/destination.ts";
import { numberOf } from "../model/destinations.sql.ts";
import { undeliveredStatuses } from "../model/notification-words.ts";
import type { NotificationStatus } from "../model/notification.ts";

const tables = { deliveries: deliveriesTable, events: eventsTable };
const statement = statementsOver(tables);

/** Where a read of a destination's deliveries continues. */
interface Place {
  readonly destinationId: Destination["id"];
  readonly limit: number;
}

/** The dead deliveries of a destination that were created after one of them, oldest first. Reads their index. */
export const deadAfter = statement<Place & { readonly after: StoredDelivery["notification"] }>()((
  db,
  t,
  p,
) => {
  const { notification, lastError, event, destination, orderKey, status } = t.deliveries;
  return db
    .select({
      ...keyColumns(t.deliveries),
      lastError,
      orderKey,
      provider: t.events.provider,
    })
    .from(t.deliveries)
    .innerJoin(t.events, eq(t.events.position, event))
    .where(
      sql`${destination} = ${numberOf(p.destinationId)} and ${status} = 'dead' and ${status} <> 'delivered' and ${notification} > ${p.after}`,
    )
    .orderBy(sql`${notification}`)
    .limit(p.limit);
});

/**
 * The deliveries of a destination that failed and are due after `now` and before one of them, latest first. Reads the
 * index of due ones.
 */
export const waitingBefore = statement<
  Place & { now: Date; before: Date; beforeNotification: StoredDelivery["notification"] }
>()((db, t, p) => {
  const { notification, lastError, event, destination, status, dueAt, blocked } = t.deliveries;
  const [now, before] = [encoded(p.now, dueAt), encoded(p.before, dueAt)];
  return db
    .select({ ...keyColumns(t.deliveries), dueAt, lastError, provider: t.events.provider })
    .from(t.deliveries)
    .innerJoin(t.events, eq(t.events.position, event))
    .where(
      sql`${destination} = ${numberOf(p.destinationId)} and ${dueAt} > ${now} and not ${blocked} and ${status} = 'retrying'
        and (${dueAt}, ${notification}) < (${before}, ${encoded(p.beforeNotification, notification)})`,
    )
    .orderBy(sql`${dueAt} desc`, sql`${notification} desc`)
    .limit(p.limit);
});

interface These {
  readonly deliveries: readonly DeliveryKey[];
  readonly now: Date;
}

/**
 * Reschedules these deliveries if they still have one of the statuses: they are due at once, with all attempts left.
 * Those with an order key are blocked until `reorder`. Does not end leases: a leased delivery is being sent, and
 * must not be sent twice at the same time.
 */
const reschedule = (...statuses: readonly NotificationStatus[]) =>
  statement<These>()((db, { deliveries }, p, dialect) => {
    const { status, dueAt, orderKey } = deliveries;
    return db
      .update(deliveries)
      .set({
        status: "pending",
        attemptCount: 0,
        dueAt: encoded(p.now, dueAt),
        blocked: sql`${orderKey} is not null`,
        afterDead: sql`false`,
      })
      .from(dialect.rows(p.deliveries, keyColumns(deliveries), "these"))
      .where(and(hasKeyOf(deliveries, "these"), inArray(status, [...statuses])));
  });

/** Used for a duplicate of the event, and to retry. */
export const rescheduleDead = reschedule("dead");

/** Used for an operator's replay. */
export const rescheduleUndelivered = reschedule(...undeliveredStatuses);

/** Makes these deliveries due now, if they still wait. */
export const retryWaiting = statement<These>()((db, { deliveries }, p, dialect) =>
  db
    .update(deliveries)
    .set({ dueAt: encoded(p.now, deliveries.dueAt) })
    .from(dialect.rows(p.deliveries, keyColumns(deliveries), "these"))
    .where(
      and(
        hasKeyOf(deliveries, "these"),
        sql`${deliveries.dueAt} > ${encoded(p.now, deliveries.dueAt)}`,
      ),
    ),
);
