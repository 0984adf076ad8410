import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import { firstPositionAt, positionIn, timeOfPosition } from "../../../src/base/ids.ts";
import { write } from "../../../src/db/statement.ts";
import type { Storage } from "../../../src/db/storage.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import {
  claimDue,
  nextDue,
  releaseLeases,
  releaseWrites,
  type SettledDelivery,
  settleDeliveries,
} from "../../../src/outbound/deliveries/delivery-queue.sql.ts";
import {
  rescheduleDead,
  rescheduleUndelivered,
} from "../../../src/outbound/deliveries/retry-all.sql.ts";
import { attemptsBy, attemptsTo } from "../../../src/outbound/model/attempts.sql.ts";
import {
  deliveriesOfEvent,
  insertDeliveries,
  type NewDelivery,
  storeDeliveries,
} from "../../../src/outbound/model/deliveries.sql.ts";
import { reorder, unblockNext } from "../../../src/outbound/model/delivery-order.sql.ts";
import type { DeliveryKey } from "../../../src/outbound/model/delivery.ts";
import { insertDestination } from "../../../src/outbound/model/destinations.sql.ts";
import type { NotificationStatus } from "../../../src/outbound/model/notification.ts";
import {
  countUndelivered,
  feedAfter,
  insertFailures,
  insertNotification,
  notificationsOfEvents,
} from "../../../src/outbound/model/notifications.sql.ts";
import {
  deliveryRow,
  destinationRow,
  eventRow,
  notificationRow,
  sentWrites,
} from "../../support/rows.ts";

const at = (ms: number) => new Date(Date.UTC(2026, 10, 21) + ms);

/** The key of the delivery of `notificationRow(number)`, and back. */
function keyOf(number: number): DeliveryKey {
  const event = firstPositionAt(at(number).getTime());
  return { event, notification: event, destination: 1 };
}
const numberOf = ({ notification }: DeliveryKey) =>
  timeOfPosition(notification).getTime() - at(0).getTime();
const numbersOf = (rows: readonly DeliveryKey[]) => rows.map(numberOf).toSorted((a, b) => a - b);

/** Stores that the first attempt of a delivery succeeded, or what else `fields` say. */
function settling(
  fields: DeliveryKey & Pick<SettledDelivery, "leasedUntil"> & Partial<SettledDelivery>,
) {
  const delivered = {
    status: "delivered",
    attemptCount: 1,
    dueAt: null,
    deliveredAt: at(20),
  } as const;
  const success = { startedAt: at(19), durationMs: 1, responseStatus: 200 };
  const settled = [{ ...delivered, lastError: null, earlierAttempts: 0, ...success, ...fields }];
  return write(settleDeliveries, { settled });
}

/** Conformance tests for stored deliveries and notifications in every SQL dialect. `open` returns an empty database. */
export function deliveryTests(open: () => Promise<Storage>): void {
  describe("deliveries", () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await open();
    });
    afterEach(() => storage.close());

    const to = { destination: 1 };
    const store = (...deliveries: readonly NewDelivery[]) =>
      storage.atomically(write(insertDeliveries, { deliveries }));
    const claim = (now: number, limit = 10) =>
      storage.atomically(
        write(claimDue, { ...to, now: at(now), leasedUntil: at(now + 1_000), limit }),
      );

    test("are claimed once while leased, oldest first, and again after the lease expires", async () => {
      for (const n of [1, 2, 3]) {
        await store(deliveryRow(notificationRow(n)));
      }
      const [two] = await claim(10, 2);
      expect(numbersOf(two.rows)).toEqual([1, 2]);
      expect(numbersOf((await claim(10))[0].rows)).toEqual([3]);
      expect((await claim(500))[0].rows).toEqual([]);
      const [again] = await claim(1_011);
      expect(again.rows.map(({ attemptCount }) => attemptCount)).toEqual([0, 0, 0]);
    });

    test("cannot be settled by a process whose lease expired and was taken by another", async () => {
      await store(deliveryRow(notificationRow(1)));
      const [[first], [second]] = [await claim(10), await claim(2_000)];
      const settle = async (leasedUntil: Date | null) => {
        const [result] = await storage.atomically(settling({ ...keyOf(1), leasedUntil }));
        return result.changes;
      };
      expect(await settle(first.rows[0]?.leasedUntil ?? null)).toBe(0);
      expect(await settle(second.rows[0]?.leasedUntil ?? null)).toBe(1);
      expect((await claim(9_000))[0].rows).toEqual([]);
    });

    test.each(["retrying", "delivered"] as const)(
      "rescheduled during an attempt stay leased, and are due after it unless it succeeded: %s",
      async (status) => {
        const row = deliveryRow(notificationRow(1), { status: "retrying", attemptCount: 3 });
        await store(row);
        const [held] = await claim(10);
        const lease = { ...keyOf(1), leasedUntil: held.rows[0]?.leasedUntil ?? null };
        const [rescheduled] = await storage.atomically(
          write(rescheduleUndelivered, { deliveries: [keyOf(1)], now: at(20) }),
        );
        expect(rescheduled.changes).toBe(1);
        expect((await claim(30))[0].rows).toEqual([]);
        const outcome = { status, attemptCount: 4, deliveredAt: null, lastError: "why" };
        await storage.atomically(
          settling({ ...lease, ...outcome, earlierAttempts: 3 }),
          ...releaseWrites([lease]),
        );
        const due = status === "delivered" ? [] : [{ ...keyOf(1), attemptCount: 0 }];
        expect((await claim(40))[0].rows).toMatchObject(due);
      },
    );

    test("leased by a dead process are free after a start", async () => {
      await store(deliveryRow(notificationRow(1)));
      await claim(10);
      expect(await storage.all(nextDue, { ...to, after: at(20) })).toEqual([]);
      await storage.atomically(write(releaseLeases, {}));
      expect(await storage.all(nextDue, { ...to, after: at(20) })).toHaveLength(1);
      expect((await claim(20))[0].rows).toHaveLength(1);
    });

    test("leased by a dead process are not free after a start if a library was to send them", async () => {
      await storage.atomically(
        write(insertDestination, destinationRow(1, { transport: "nats" })),
        write(insertDeliveries, { deliveries: [deliveryRow(notificationRow(1))] }),
      );
      await claim(10);
      await storage.atomically(write(releaseLeases, {}));
      expect((await claim(1_009))[0].rows).toEqual([]);
      expect((await claim(1_011))[0].rows).toHaveLength(1);
    });

    test("are rescheduled only if dead", async () => {
      await store(
        deliveryRow(notificationRow(1), { status: "dead" }),
        deliveryRow(notificationRow(2), { status: "delivered" }),
      );
      const [rescheduled] = await storage.atomically(
        write(rescheduleDead, { deliveries: [keyOf(1), keyOf(2)], now: at(50) }),
      );
      expect(rescheduled.changes).toBe(1);
      expect((await claim(60))[0].rows).toMatchObject([{ ...keyOf(1), attemptCount: 0 }]);
    });

    test("are recorded although a destination answered what not every database stores", async () => {
      const row = notificationRow(1);
      const notification = row.position.position;
      const attempt = { ...to, notification, durationMs: 1, responseStatus: null };
      const errors = ["a\0b", "\ud83d", '"\\', "\u{1f642}"];
      const attempts = errors.map((error, n) => ({ ...attempt, startedAt: at(n), error }));
      await storage.atomically(
        write(insertDestination, destinationRow(1)),
        write(insertEvent, eventRow(1)),
        write(insertNotification, row),
        write(insertFailures, { attempts }),
      );
      const of = { destinationId: destinationRow(1).id, notifications: [notification] };
      const stored = (await attemptsBy(storage, attemptsTo, of)).map(({ error }) => error);
      expect(stored).toEqual(["a\ufffdb", "\ufffd", '"\\', "\u{1f642}"]);
    });

    test("of one order key are claimed one at a time, in the order of commits, other keys meanwhile", async () => {
      const rows = [
        ["a", 1],
        ["a", 2],
        ["b", 3],
        [null, 4],
        ["a", 5],
      ] as const;
      for (const [orderKey, n] of rows) {
        await storage.atomically(
          ...storeDeliveries([deliveryRow(notificationRow(n), { orderKey })]),
        );
      }
      const claimed = async (now: number) => numbersOf((await claim(now))[0].rows);
      expect(await claimed(10)).toEqual([1, 3, 4]);
      const settle = (number: number, leasedUntil: Date, fields: Partial<SettledDelivery>) =>
        storage.atomically(
          settling({ ...keyOf(number), leasedUntil, ...fields }),
          ...unblockNext({ ...to, orderKey: "a" }, at(20)),
        );
      // The first of the group waits for its retry, and those behind it too.
      await settle(1, at(1_010), { status: "retrying", dueAt: at(5_000), deliveredAt: null });
      expect(await claimed(20)).toEqual([]);
      expect(await claimed(5_000)).toEqual([1, 3, 4]);
      // Those that wait for the head are not due, so that no process polls for them.
      expect(await storage.all(nextDue, { ...to, after: at(5_001) })).toEqual([]);
      await settle(1, at(6_000), { earlierAttempts: 1, status: "dead", deliveredAt: null });
      expect(await claimed(5_010)).toEqual([2]);
    });

    test("of an order key wait for an earlier one that is rescheduled, whatever is due", async () => {
      const orderKey = "a";
      const add = (n: number, status: "dead" | "pending") =>
        storage.atomically(
          ...storeDeliveries([
            deliveryRow(notificationRow(n), {
              orderKey,
              status,
              ...(status === "dead" && { blocked: false }),
            }),
          ]),
        );
      await add(1, "dead");
      await add(2, "dead");
      await add(3, "pending");
      await add(4, "pending");
      await storage.atomically(
        write(rescheduleDead, { deliveries: [keyOf(1), keyOf(2)], now: at(5) }),
        ...reorder([{ ...to, orderKey }], at(5)),
      );
      for (const [index, number] of [1, 2, 3, 4].entries()) {
        const now = 10 + index;
        const [{ rows }] = await claim(now);
        expect(numbersOf(rows)).toEqual([number]);
        await storage.atomically(
          settling({ ...keyOf(number), leasedUntil: at(now + 1_000) }),
          ...unblockNext({ ...to, orderKey }, at(now)),
        );
      }
      expect((await claim(50))[0].rows).toEqual([]);
    });

    test("are claimed only for their destination", async () => {
      const other = { destination: 2 };
      await store(deliveryRow(notificationRow(1), other));
      expect((await claim(10))[0].rows).toEqual([]);
      expect(await storage.all(nextDue, { ...other, after: at(20) })).toHaveLength(1);
      await storage.atomically(
        write(insertEvent, eventRow(1)),
        ...[1, 2].map((n) => write(insertDestination, destinationRow(n))),
      );
      const event = positionIn(eventRow(1).id);
      expect(await storage.all(deliveriesOfEvent, { event })).toHaveLength(1);
    });
  });

  describe("notifications", () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await open();
    });
    afterEach(() => storage.close());

    test("have the worst status of their deliveries to operators", async () => {
      const event = positionIn(eventRow(1).id);
      const row = notificationRow(1);
      const statusAfter = async (...statuses: readonly NotificationStatus[]) => {
        const deliveries = statuses.map((status, n) =>
          deliveryRow(row, {
            destination: n,
            status,
            attemptCount: n + 1,
            dueAt: status === "retrying" ? at(n) : null,
            deliveredAt: status === "delivered" ? at(10 + n) : null,
            // The last is a user's own.
            ownerId: n === 3 ? "user" : null,
          }),
        );
        await storage.atomically(
          write(insertEvent, eventRow(1)),
          write(insertNotification, row),
          ...deliveries.map((delivery) => write(insertDeliveries, { deliveries: [delivery] })),
        );
        const [shown] = await storage.all(notificationsOfEvents, { events: [event] });
        await storage.close();
        storage = await open();
        return shown;
      };
      expect(await statusAfter("delivered", "retrying", "dead")).toMatchObject({
        status: "dead",
        attemptCount: 3,
        deliveredAt: null,
      });
      expect(await statusAfter("delivered", "retrying", "pending", "dead")).toMatchObject({
        status: "retrying",
        attemptCount: 3,
        dueAt: at(1),
      });
      expect(await statusAfter("delivered", "pending")).toMatchObject({ status: "pending" });
      expect(await statusAfter("delivered", "delivered")).toMatchObject({
        status: "delivered",
        deliveredAt: at(11),
        dueAt: null,
      });
      expect(await statusAfter()).toMatchObject({ status: "delivered", attemptCount: 0 });
    });

    test("are in the feed in commit order, with provider and type of their event", async () => {
      for (const n of [3, 1, 2]) {
        const event = eventRow(n);
        const own = { position: event.place, event: event.place };
        await storage.atomically(
          write(insertEvent, event),
          write(insertNotification, notificationRow(n, own)),
        );
      }
      const first = positionIn(eventRow(3).id);
      const entries = await storage.all(feedAfter, { seq: first, until: first + 2, limit: 10 });
      // The clock went back after the first.
      expect(entries.map(({ seq, title }) => [seq, title])).toEqual([
        [first + 1, "Notification 1"],
        [first + 2, "Notification 2"],
      ]);
      expect(entries[0]).toMatchObject({ provider: "task_tracker", type: "task.completed" });
    });

    test("that are waiting or dead are counted by status", async () => {
      for (const [n, status] of (["pending", "pending", "dead", "delivered"] as const).entries()) {
        await storage.atomically(...sentWrites(notificationRow(n), { status }));
      }
      const rows = await storage.all(countUndelivered, {});
      expect(rows.toSorted((a, b) => a.status.localeCompare(b.status))).toEqual([
        { status: "dead", count: 1, oldest: at(2) },
        { status: "pending", count: 2, oldest: at(0) },
      ]);
    });
  });
}
