import { expect, test } from "bun:test";

import { eq, ne } from "drizzle-orm";

import { positionIn } from "../../../src/base/ids.ts";
import { openStorage } from "../../../src/db/open.ts";
import {
  encoded,
  type Later,
  statementsOver,
  type Write,
  write,
} from "../../../src/db/statement.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import { insertDeliveries } from "../../../src/outbound/deliveries.sql.ts";
import { retryDeadOf, retryWaitingOf } from "../../../src/outbound/deliveries/retry-all.ts";
import { deliveriesTable } from "../../../src/outbound/delivery.ts";
import { operatorGateway } from "../../../src/outbound/destination.ts";
import {
  insertNotification,
  notificationsOfEvents,
  summaryWrites,
} from "../../../src/outbound/notifications.sql.ts";
import { schema } from "../../../src/schema/schema.ts";
import { startApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { testGateway } from "../../support/gateway.ts";
import { hour } from "../../support/notifying.ts";
import { itemsOf, listed, timelineOf } from "../../support/operator.ts";
import { deliveryRow, eventRow, notificationRow } from "../../support/rows.ts";

const kill = statementsOver({ deliveries: deliveriesTable })()((db, { deliveries }) =>
  db
    .update(deliveries)
    .set({ status: "dead", dueAt: null, leasedUntil: null })
    .where(ne(deliveries.status, "delivered")),
);

test("a retried delivery and the state of its event change in one transaction", async () => {
  const gateway = testGateway(() => new Response(null, { status: 503 }));
  const { env } = gateway;
  const app = await startApp(env);
  const { storage } = app.services;
  const deliver = async () => {
    await app.deliverSample("code_host", "package.published");
    return `evt_${String((await listed(app, "/v1/events"))[0]?.["id"]).slice(4)}` as const;
  };
  const eventIds = [await deliver(), await deliver()];
  const positions = eventIds.map(positionIn);
  const states = async () =>
    (await Promise.all(eventIds.map((id) => timelineOf(app, id)))).map((notifications) =>
      itemsOf(notifications).map(({ status }) => String(status)),
    );
  await until(async () => (await states()).flat().every((state) => state === "retrying"));
  await storage.atomically(write(kill, {}), ...summaryWrites(positions));
  expect(await states()).toEqual([["dead"], ["dead"]]);

  const [destination] = await listed(app, "/v1/destinations", "admin");
  const transactions: (readonly (Write<unknown> | Later)[])[] = [];
  const recorded: typeof storage = {
    ...storage,
    all: (statement, values) => storage.all(statement, values),
    atomically(...writes) {
      transactions.push(writes);
      return storage.atomically(...writes);
    },
  };
  const destinationId = `dst_${String(destination?.["id"]).slice(4)}` as const;
  const parts = { storage: recorded, clock: app.clock };
  expect(await retryDeadOf(parts, { destinationId, which: () => true })).toBe(2);
  const [only, ...others] = transactions;
  expect(others).toEqual([]);
  expect(only?.slice(1)).toEqual(summaryWrites(positions));
  expect((await states()).flat()).not.toContain("dead");
  await app.stop();
  await gateway.stop();
});

const dueOf = statementsOver({ deliveries: deliveriesTable })<{ seq: number }>()(
  (db, { deliveries }, p) =>
    db.select({ dueAt: deliveries.dueAt }).from(deliveries).where(eq(deliveries.seq, p.seq)),
);
const failAgain = statementsOver({ deliveries: deliveriesTable })<{ seq: number; dueAt: Date }>()(
  (db, { deliveries }, p) =>
    db
      .update(deliveries)
      .set({ attemptCount: 6, dueAt: encoded(p.dueAt, deliveries.dueAt) })
      .where(eq(deliveries.seq, p.seq)),
);

test("after a recovery, what fails again meanwhile keeps its delay", async () => {
  const storage = await openStorage(schema, "sqlite::memory:");
  const clock = manualClock();
  const inAnHour = new Date(clock.now() + hour);
  const retrying = { status: "retrying", attemptCount: 5, dueAt: inAnHour } as const;
  const count = 1_100;
  for (let n = 1; n <= count; n += 1) {
    const row = notificationRow(n, retrying);
    await storage.atomically(
      write(insertEvent, eventRow(n)),
      write(insertNotification, row),
      write(insertDeliveries, { deliveries: [deliveryRow(row)] }),
    );
  }
  const dueAt = async (seq: number) => (await storage.all(dueOf, { seq }))[0]?.dueAt;
  const failed = { seq: 0, dueAt: new Date(clock.now() + 6 * hour) };
  const watched: typeof storage = {
    ...storage,
    all: (statement, values) => storage.all(statement, values),
    async atomically(...writes) {
      const results = await storage.atomically(...writes);
      // One that became due in the first batch fails at once.
      for (const seq of failed.seq === 0 ? [1, count] : []) {
        if ((await dueAt(seq))?.getTime() !== clock.now()) continue;
        failed.seq = seq;
        await storage.atomically(write(failAgain, failed));
      }
      return results;
    },
  };
  const parts = { storage: watched, clock };
  await retryWaitingOf(parts, { destinationId: operatorGateway.id, which: () => true });
  expect(await dueAt(failed.seq)).toEqual(failed.dueAt);
  const others = [2, 500, 501, count - 1];
  for (const seq of others) expect(await dueAt(seq)).toEqual(new Date(clock.now()));
  // What operators see of the event agrees.
  const [shown] = await storage.all(notificationsOfEvents, {
    events: [positionIn(eventRow(2).id)],
  });
  expect(shown?.dueAt).toEqual(new Date(clock.now()));
  await storage.close();
});
