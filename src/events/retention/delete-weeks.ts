import { firstPositionAt } from "../../base/ids.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import {
  dropGenerations,
  dropWeek,
  makeWeek,
  startOfWeek,
  sweepWeek,
  weekAt,
  weeksUntil,
} from "../../event/weeks.sql.ts";
import { orderGroupsOf } from "../../outbound/model/deliveries.sql.ts";
import { unblockNext } from "../../outbound/model/delivery-order.sql.ts";
import type { Log } from "../../telemetry/log.ts";

import {
  type AlsoDelete,
  batchSize,
  type DeleteEvents,
  deleteSettled,
  type Walk,
} from "./delete-events.ts";
import {
  deleteAttemptsWithout,
  deleteDeliveriesWithout,
  deleteSettledNotifications,
  notificationsAmong,
} from "./retention.sql.ts";

/** So many weeks are made ahead, so that no webhook waits for one. */
const weeksAhead = 2;
/** Events whose notifications are deleted at once. */
const notificationsBatch = 1_000;
/** The most events of a week that are stored again while others wait for it. */
const mostKept = 1_000;

/** Deletes whole weeks of events, on PostgreSQL. Makes those to come. */
export function deletingWeeks(
  storage: Storage,
  walk: Walk,
  log: Log,
  alsoDelete: AlsoDelete,
): DeleteEvents {
  async function deleteWeek(week: number, now: number): Promise<void> {
    const first = firstPositionAt(startOfWeek(week));
    const last = firstPositionAt(startOfWeek(week + 1)) - 1;
    const end = await walk(first - 1, last, notificationsBatch, (positions) =>
      deleteNotifications(storage, positions, now),
    );
    const [sweep] = await storage.all(sweepWeek, { week, most: mostKept, nowMs: now });
    // In use: the next round tries again.
    if (sweep === undefined) return;
    const { kept, swept } = sweep;
    if (kept > mostKept) {
      await walk(first - 1, end, batchSize, (positions) =>
        deleteSettled(storage, positions, now, alsoDelete),
      );
      return;
    }
    await storage.atomically(...alsoDelete({ first, last }));
    if (kept === 0) await storage.all(dropWeek, { week });
    if (swept)
      log.info({ week: new Date(startOfWeek(week)), kept }, "expired week of events deleted");
  }

  return async (until, now) => {
    for (let ahead = 0; ahead <= weeksAhead; ahead += 1) {
      await storage.all(makeWeek, { week: weekAt(now) + ahead });
    }
    const weeks = await storage.all(weeksUntil, { until: firstPositionAt(until.getTime()) });
    const errors: unknown[] = [];
    for (const { week } of weeks) {
      // One that cannot be deleted does not keep the others.
      await deleteWeek(week, now).catch((error: unknown) => errors.push(error));
    }
    if (weeks.length > 0) await storage.all(dropGenerations, {});
    if (errors.length > 0) throw errors[0];
  };
}

/** Deletes the notifications of events that have only delivered ones, with their deliveries. */
async function deleteNotifications(
  storage: Storage,
  positions: readonly number[],
  now: number,
): Promise<void> {
  const notifications = await storage.all(notificationsAmong, { positions });
  if (notifications.length === 0) return;
  // Users' deliveries may still wait, for example while their destination is paused.
  const groups = await storage.all(orderGroupsOf, { events: positions });
  const range = { first: positions[0] ?? 0, last: positions.at(-1) ?? 0 };
  await storage.atomically(
    write(deleteSettledNotifications, range),
    write(deleteAttemptsWithout, { positions: notifications.map(({ position }) => position) }),
    write(deleteDeliveriesWithout, range),
    ...groups.flatMap((group) => unblockNext(group, new Date(now))),
  );
}
