import { expect, test } from "bun:test";

import { ne } from "drizzle-orm";

import { statementsOver, type Write, write } from "../../../src/db/statement.ts";
import { summaryWrites } from "../../../src/gateway/notifications/notifications.sql.ts";
import { retryDeadOf } from "../../../src/gateway/notifications/retries.ts";
import { deliveriesTable } from "../../../src/gateway/outgoing-delivery.ts";
import { startApp, until } from "../../support/app.ts";
import { gatewaySecret, testGateway } from "../../support/gateway.ts";
import { itemsOf, listed, timelineOf } from "../../support/operator.ts";

const kill = statementsOver({ deliveries: deliveriesTable })()((db, { deliveries }) =>
  db
    .update(deliveries)
    .set({ status: "dead", dueAt: null, leasedUntil: null })
    .where(ne(deliveries.status, "delivered")),
);

test("a retried delivery and the state of its event change in one transaction", async () => {
  const gateway = testGateway(() => new Response(null, { status: 503 }));
  const env = { OPERATOR_GATEWAY_URL: gateway.url, OPERATOR_GATEWAY_SECRET: gatewaySecret };
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
  await storage.atomically(write(kill, {}), ...eventIds.flatMap((id) => summaryWrites(id)));
  expect(await states()).toEqual([["dead"], ["dead"]]);

  const [destination] = await listed(app, "/v1/destinations", "admin");
  const transactions: (readonly Write<unknown>[])[] = [];
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
  const summaries = (id: (typeof eventIds)[number]) =>
    summaryWrites(id).map(({ statement }) => statement);
  expect(others).toEqual([]);
  expect(only?.slice(1).map(({ statement }) => statement)).toEqual(eventIds.flatMap(summaries));
  expect((await states()).flat()).not.toContain("dead");
  await app.stop();
  await gateway.stop();
});
