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
import { retryDeadOf, retryWaitingOf } from "../../../src/outbound/deliveries/retry-all.ts";
import { deliveriesTable } from "../../../src/outbound/model/delivery.ts";
import { insertDestination } from "../../../src/outbound/model/destinations.sql.ts";
import { notificationsOfEvents } from "../../../src/outbound/model/notifications.sql.ts";
import { schema } from "../../../src/schema/schema.ts";
import { startApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { testGateway } from "../../support/gateway.ts";
import { hour } from "../../support/notifying.ts";
import { itemsOf, listed, timelineOf } from "../../support/operator.ts";
import { destinationRow, eventRow, notificationRow, sentWrites } from "../../support/rows.ts";

const statement = statementsOver({ deliveries: deliveriesTable });
const kill = statement()((db, { deliveries }) =>
  db
    .update(deliveries)
    .set({ status: "dead", dueAt: null, leasedUntil: null })
    .where(ne(deliveries.status, "delivered")),
);

test("retried deliveries and the states of their events change in one transaction", async () => {
  const gateway = testGateway(() => new Response(null, { status: 503 }));
  const { env } = gateway;
  const app = await startApp(env);
  const { storage } = app.services;
  const deliver = async () => {
    await app.deliverSample("code_host", "package.published");
    return `evt_${String((await listed(app, "/v1/events"))[0]?.["id"]).slice(4)}` as const;
  };
  const eventIds = [await deliver(), await deliver()];
  const states = async () =>
    (await Promise.all(eventIds.map((id) => timelineOf(app, id)))).map((notifications) =>
      itemsOf(notifications).map(({ status }) => String(status)),
    );
  await until(async () => (await states()).flat().every((state) => state === "retrying"));
  await storage.atomically(write(kill, {}));
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
  expect(transactions.map((writes) => writes.length)).toEqual([1]);
  expect((await states()).flat()).not.toContain("dead");
  await app.stop();
  await gateway.stop();
});

const dueOf = statement<{ event: number }>()((db, { deliveries }, p) =>
  db.select({ dueAt: deliveries.dueAt }).from(deliveries).where(eq(deliveries.event, p.event)),
);
const failAgain = statement<{ event: number; dueAt: Date }>()((db, { deliveries }, p) =>
  db
    .update(deliveries)
    .set({ attemptCount: 6, dueAt: encoded(p.dueAt, deliveries.dueAt) })
    .where(eq(deliveries.event, p.event)),
);

test("after a recovery, what fails again meanwhile keeps its delay", async () => {
  const storage = await openStorage(schema, "sqlite::memory:");
  const clock = manualClock();
  const inAnHour = new Date(clock.now() + hour);
  const retrying = { status: "retrying", attemptCount: 5, dueAt: inAnHour } as const;
  const count = 1_100;
  await storage.atomically(write(insertDestination, destinationRow(1)));
  for (let n = 1; n <= count; n += 1) {
    await storage.atomically(
      write(insertEvent, eventRow(n)),
      ...sentWrites(notificationRow(n), retrying),
    );
  }
  const eventOf = (number: number) => positionIn(eventRow(number).id);
  const dueAt = async (event: number) => (await storage.all(dueOf, { event }))[0]?.dueAt;
  const failed = { event: 0, dueAt: new Date(clock.now() + 6 * hour) };
  const watched: typeof storage = {
    ...storage,
    all: (statement, values) => storage.all(statement, values),
    async atomically(...writes) {
      const results = await storage.atomically(...writes);
      // One that became due in the first batch fails at once.
      for (const event of failed.event === 0 ? [1, count].map(eventOf) : []) {
        if ((await dueAt(event))?.getTime() !== clock.now()) continue;
        failed.event = event;
        await storage.atomically(write(failAgain, failed));
      }
      return results;
    },
  };
  const parts = { storage: watched, clock };
  await retryWaitingOf(parts, { destinationId: destinationRow(1).id, which: () => true });
  expect(await dueAt(failed.event)).toEqual(failed.dueAt);
  const others = [2, 500, 501, count - 1].map(eventOf);
  for (const event of others) expect(await dueAt(event)).toEqual(new Date(clock.now()));
  // What operators see of the event agrees.
  const [shown] = await storage.all(notificationsOfEvents, { events: [eventOf(2)] });
  expect(shown?.dueAt).toEqual(new Date(clock.now()));
  await storage.close();
});
