import { type SQL, sql } from "drizzle-orm";

import { encoded, type Parameters, statementsOver, type Write, write } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";

import { deliveriesTable, type StoredDelivery } from "./delivery.ts";

const tables = { deliveries: deliveriesTable };
const statement = statementsOver(tables);

/** The deliveries to a destination with the same order key, which are sent one after the other. */
interface OrderGroup {
  readonly destination: StoredDelivery["destination"];
  readonly orderKey: string;
}

/** Without the lock, a delivery stored while the one before it is settled would stay blocked. */
const groupIsContended = {
  contended: ({ destination, orderKey }: OrderGroup) => ({
    table: deliveriesTable,
    ids: [`${destination} ${orderKey}`],
  }),
};

/**
 * The notification of the first unsettled delivery of an order group, among blocked or other ones; null without one. PostgreSQL
 * would walk another index for `min(notification)`, and a whole table for `exists`: only the index has this order.
 */
export function firstInGroup(
  { deliveries }: TablesOf<typeof tables>,
  which: "blocked" | "not blocked",
  { destination, orderKey }: { readonly destination: SQL; readonly orderKey: SQL },
): SQL {
  const name = sql.identifier(which === "blocked" ? "waiting" : "head");
  return sql`(select ${name}.notification from ${deliveries} as ${name} where ${name}.destination = ${destination}
        and ${name}.order_key >= ${orderKey} and ${name}.order_key <= ${orderKey} and ${name}.due_at is not null
        and ${sql.raw(which.replace("blocked", ""))}${name}.blocked order by ${name}.order_key, ${name}.notification limit 1)`;
}

/** The columns of a group, from the values of a statement. */
function groupOf({ deliveries }: TablesOf<typeof tables>, p: Parameters<OrderGroup>) {
  return {
    destination: encoded(p.destination, deliveries.destination),
    orderKey: encoded(p.orderKey, deliveries.orderKey),
  };
}

/**
 * Makes the first unsettled delivery of an order group due, unless it is already. Run it in each transaction that stores,
 * settles, reschedules or deletes a delivery with an order key. `afterDead`: see `StoredDelivery`.
 */
const unblockFirst = statement<OrderGroup & { readonly now: Date; readonly afterDead: boolean }>()(
  (db, t, p) => {
    const { destination, notification, dueAt, afterDead } = t.deliveries;
    const group = groupOf(t, p);
    return db
      .update(t.deliveries)
      .set({
        blocked: sql`false`,
        dueAt: encoded(p.now, dueAt),
        afterDead: encoded(p.afterDead, afterDead),
      })
      .where(
        sql`${destination} = ${group.destination} and ${notification} = ${firstInGroup(t, "blocked", group)}
          and not coalesce(${firstInGroup(t, "not blocked", group)} < ${notification}, false)`,
      );
  },
  groupIsContended,
);

/** Blocks what is due in an order group besides its first delivery: an earlier one was rescheduled. */
const blockOthers = statement<OrderGroup>()((db, t, p) => {
  const { destination, orderKey, dueAt, blocked, notification } = t.deliveries;
  const group = groupOf(t, p);
  return db
    .update(t.deliveries)
    .set({ blocked: sql`true` })
    .where(
      sql`${destination} = ${group.destination} and ${orderKey} = ${group.orderKey} and ${dueAt} is not null and not ${blocked}
      and ${notification} > ${firstInGroup(t, "not blocked", group)}`,
    );
}, groupIsContended);

type Ordered = Pick<StoredDelivery, "destination" | "orderKey">;

/** For the transaction in which a delivery was stored, settled or deleted. Nothing without an order key. */
export function unblockNext(
  { destination, orderKey }: Ordered,
  now: Date,
  { afterDead } = { afterDead: false },
): readonly Write<never>[] {
  return orderKey === null ? [] : [write(unblockFirst, { destination, orderKey, now, afterDead })];
}

/** For the transaction in which deliveries were rescheduled, which may be earlier than those that are due. */
export function reorder(deliveries: readonly Ordered[], now: Date): readonly Write<never>[] {
  const groups = new Map(
    deliveries.map((each) => [JSON.stringify([each.destination, each.orderKey]), each]),
  );
  return [...groups.values()].flatMap(({ destination, orderKey }) =>
    orderKey === null
      ? []
      : [
          ...unblockNext({ destination, orderKey }, now),
          write(blockOthers, { destination, orderKey }),
        ],
  );
}
