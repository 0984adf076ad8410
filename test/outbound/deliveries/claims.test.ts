import { describe, expect, test } from "bun:test";

import { isNotNull } from "drizzle-orm";

import { placeIn } from "../../../src/base/ids.ts";
import { statementsOver } from "../../../src/db/statement.ts";
import { deliveriesTable } from "../../../src/outbound/model/delivery.ts";
import { startApp, type TestApp, until } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { testGateway } from "../../support/gateway.ts";
import { listed, timelineOf } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";

const leases = statementsOver({ deliveries: deliveriesTable })()((db, { deliveries }) => {
  const { notification, leasedUntil } = deliveries;
  return db.select({ notification, leasedUntil }).from(deliveries).where(isNotNull(leasedUntil));
});

describe("what a queue has claimed ahead", () => {
  const taken = resources();

  /** A queue that waits for the answer to one delivery, holds three more, and leaves a fifth. */
  async function holding() {
    const url = `sqlite:${taken.newFile()}`;
    const other = await taken.storage(url);
    const answer = Promise.withResolvers<Response>();
    /** How long the lease of each delivery lasts when it arrives. */
    const leftMs: Promise<number>[] = [];
    const gateway = taken.gateway((number, { headers }) => {
      const left = other.all(leases, {}).then((all) => {
        const own = all.find(
          ({ notification }) =>
            notification === placeIn("ntf", String(headers["webhook-id"]))?.position,
        );
        return Number(own?.leasedUntil) - app.clock.now();
      });
      leftMs.push(left);
      return number === 2 ? answer.promise : new Response();
    });
    const app: TestApp = await taken.app({ DATABASE_URL: url, ...gateway.env });
    const stop = () => app.stop();
    taken.ends.push(() => answer.resolve(new Response()));
    const [destination] = await listed(app, "/v1/destinations", "admin");
    const change = async (fields: object) => {
      const path = `/v1/destinations/${String(destination?.["id"])}`;
      const changed = await app.as("admin", path, { ...post(fields), method: "PATCH" });
      expect(changed.status).toBe(200);
    };
    const deliver = () => app.deliverSample("task_tracker", "task.completed");
    const held = () => other.all(leases, {});
    await change({ maxConcurrent: 1 });
    // A destination is fast once it has answered fast.
    await deliver();
    await until(async () => gateway.received.length === 1 && (await held()).length === 0);
    await change({ state: "paused" });
    for (let count = 0; count < 5; count += 1) await deliver();
    await change({ state: "active" });
    await until(() => gateway.received.length === 2);
    expect(await held()).toHaveLength(4);
    return { app, gateway, answer, change, held, leftMs, stop };
  }

  test("is given back when the destination is paused, and sent after it is resumed", async () => {
    const { gateway, answer, change, held } = await holding();
    await change({ state: "paused" });
    await until(async () => (await held()).length === 1);
    answer.resolve(new Response());
    await until(async () => (await held()).length === 0);
    expect(gateway.received).toHaveLength(2);
    await change({ state: "active" });
    await until(() => gateway.received.length === 6);
    expect(new Set(gateway.received.map(({ headers }) => headers["webhook-id"])).size).toBe(6);
  });

  test("is given back when the process stops, which waits only for what is being sent", async () => {
    const { gateway, answer, held, stop } = await holding();
    const stopped = stop();
    await until(async () => (await held()).length === 1);
    answer.resolve(new Response());
    await stopped;
    expect(gateway.received).toHaveLength(2);
  });

  test.each([
    ["so little of its lease is left that an attempt could outlast it", 16_000],
    ["its lease has ended", 31_000],
  ])("is claimed again before it is sent if %s", async (_, ms) => {
    const { app, gateway, leftMs } = await holding();
    // The delivery that is being sent fails: the destination did not answer in time.
    app.clock.advance(ms);
    await until(() => gateway.received.length >= 6);
    for (const left of await Promise.all(leftMs)) expect(left).toBeGreaterThanOrEqual(15_000);
  });
});

test("attempts that end together are recorded in few transactions", async () => {
  const count = 20;
  const all = Promise.withResolvers<Response>();
  await using gateway = testGateway(() => all.promise.then(() => new Response()));
  await using app = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
  for (let number = 0; number < count; number += 1) {
    const fields = { name: `d${number}`, format: "json", url: `${gateway.url}/${number}` };
    expect((await app.as("admin", "/v1/destinations", post(fields))).status).toBe(201);
  }
  await app.deliverSample("task_tracker", "task.completed");
  await until(() => gateway.received.length === count);
  const transactions = async () => {
    const text = await (await app.fetch("/metrics")).text();
    return Number(/^skyhook_storage_commit_transactions_sum (\d+)$/m.exec(text)?.[1]);
  };
  const before = await transactions();
  all.resolve(new Response());
  const [event] = await listed(app, "/v1/events");
  await until(async () => {
    const [notification] = await timelineOf(app, event?.["id"]);
    return notification?.["status"] === "delivered";
  });
  expect((await transactions()) - before).toBeLessThan(count / 2);
});
