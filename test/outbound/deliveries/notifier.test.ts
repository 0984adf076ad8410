import { describe, expect, test } from "bun:test";

import { json, type TestApp, until } from "../../support/app.ts";
import { never } from "../../support/gateway.ts";
import { deliver, idsOf, newest, second, untilLater } from "../../support/notifying.ts";
import { listed, timelineOf } from "../../support/operator.ts";
import { timesAsLong } from "../../support/processor-time.ts";
import { resources } from "../../support/resources.ts";
import { openedBeside } from "../../support/rows.ts";

const taken = resources();

describe("an operator gateway that hangs", () => {
  test("does not slow down webhooks and holds at most 16 deliveries [GATEWAY-2]", async () => {
    const gateway = taken.gateway(never);
    const [without, app] = [await taken.app(), await taken.app(gateway.env)];
    const receiveBy = (one: TestApp) => async () => {
      // No time passes by the clock of the app: an answer that waits for the gateway never comes.
      const answers = await Promise.all(Array.from({ length: 100 }, () => deliver(one)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
    };
    const times = await timesAsLong(receiveBy(without), receiveBy(app), 10);
    expect(times).toBeLessThanOrEqual(10);
    await untilLater(app, () => gateway.received.length === 16);
    expect(gateway.mostInFlight()).toBe(16);
  });

  test("opens its circuit after ten failures in a row, and then gets one probe at a time", async () => {
    const gateway = taken.gateway(never);
    const app = await taken.app(gateway.env);
    await Promise.all(Array.from({ length: 100 }, () => deliver(app)));
    await until(() => gateway.received.length === 16);
    const passing = (condition: () => boolean | Promise<boolean>) =>
      until(async () => {
        app.clock.advance(second);
        // As long as it takes to claim a probe: no more time may pass until it is sent.
        await app.services.storage.atomically();
        return condition();
      });
    const path = "/v1/destinations?include=health";
    const health = async () => Object((await listed(app, path, "admin"))[0]?.["health"]);
    await passing(async () => (await health()).circuit === "open");
    // Attempts that began before the tenth failure.
    const before = gateway.received.length;
    expect(before).toBeLessThan(50);
    await passing(() => gateway.received.length > before + 2);
    expect(await health()).toMatchObject({ waiting: 100, dead: 0 });
    // In seconds of the clock by which they were sent: on a busy machine one arrives later.
    const sentAt = gateway.received.map(({ headers }) => Number(headers["webhook-timestamp"]));
    const [earlier = 0, later = 0] = sentAt.slice(before + 1);
    expect(later - earlier).toBeGreaterThanOrEqual(29);
  });

  test("receives every notification once after it responds again", async () => {
    const answering = Promise.withResolvers<void>();
    const gateway = taken.gateway(async () => {
      await answering.promise;
      return new Response();
    });
    const app = await taken.app(gateway.env);
    await Promise.all(Array.from({ length: 100 }, () => deliver(app)));
    await until(() => gateway.received.length === 16);
    answering.resolve();
    await untilLater(app, () => gateway.received.length === 100);
    await untilLater(
      app,
      async () => (await listed(app, "/v1/notifications?status=pending")).length === 0,
    );
    expect(gateway.received).toHaveLength(100);
    expect(idsOf(gateway).size).toBe(100);
    expect(gateway.mostInFlight()).toBe(16);
  });
});

describe("no notification is lost", () => {
  test("if the process dies during a delivery: the next one sends it again with the same id", async () => {
    const file = taken.newFile();
    const dead = taken.gateway(never);
    const first = await taken.app({ ...dead.env, DATABASE_URL: `sqlite:${file}` });
    await Promise.all(Array.from({ length: 20 }, () => deliver(first)));
    await until(() => dead.received.length === 16);

    const alive = taken.gateway(() => new Response());
    const second = await taken.app({ ...alive.env, DATABASE_URL: `sqlite:${file}` });
    await untilLater(second, () => alive.received.length === 20);
    await untilLater(
      second,
      async () => (await listed(second, "/v1/notifications?status=delivered")).length === 20,
    );
    expect(idsOf(alive).size).toBe(20);
    for (const id of idsOf(dead)) expect(idsOf(alive)).toContain(id);
  });

  test("if the service stops during a delivery: the interrupted attempt does not count", async () => {
    const file = taken.newFile();
    const hanging = taken.gateway(never);
    const first = await taken.app({ ...hanging.env, DATABASE_URL: `sqlite:${file}` });
    const { id } = await json(await deliver(first));
    await until(() => hanging.received.length === 1);
    await first.stop();

    const alive = taken.gateway(() => new Response());
    const second = await taken.app({ ...alive.env, DATABASE_URL: `sqlite:${file}` });
    await untilLater(second, () => alive.received.length === 1);
    await untilLater(second, async () => (await newest(second))["status"] === "delivered");
    expect([...idsOf(alive)]).toEqual([...idsOf(hanging)]);
    const [{ attempts } = {}] = await timelineOf(second, id);
    expect(attempts).toMatchObject([{ delivered: true }]);
  });

  test("if the outcome cannot be stored: it is sent again when the lease ends [GATEWAY-4]", async () => {
    const file = taken.newFile();
    const held = Promise.withResolvers<Response>();
    const gateway = taken.gateway((number) => (number === 1 ? held.promise : new Response()));
    const app = await taken.app({ ...gateway.env, DATABASE_URL: `sqlite:${file}` });
    await deliver(app);
    await until(() => gateway.received.length === 1);
    using other = openedBeside(file);
    other.run("begin immediate");
    held.resolve(new Response());
    await until(async () => (await app.services.unready()) !== null);
    other.run("rollback");
    expect((await newest(app))["status"]).toBe("pending");
    app.clock.advance(30 * second);
    await untilLater(app, async () => (await newest(app))["status"] === "delivered");
    expect(gateway.received).toHaveLength(2);
    expect(idsOf(gateway).size).toBe(1);
  });
});
