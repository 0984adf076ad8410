import { describe, expect, test } from "bun:test";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { startApp, until } from "../../support/app.ts";
import { endsAfterEach } from "../../support/ends.ts";
import { testGateway } from "../../support/gateway.ts";
import { itemsOf, listed } from "../../support/operator.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";

describe("a destination that answers", () => {
  const ends = endsAfterEach();

  /** `answer`: the status of each request. */
  async function destinationOf(
    answer: (number: number) => number | Promise<number>,
    fields: object = {},
  ) {
    const gateway = testGateway(
      async (number) => new Response(null, { status: await answer(number) }),
    );
    const folder = temporaryFolder();
    const logFile = join(folder, "log");
    const logFd = openSync(logFile, "w");
    const app = await startApp({ ...gateway.env, LOG_LEVEL: "warn" }, undefined, { logFd });
    let stopping: Promise<void> | null = null;
    /** Also writes the rest of the log. */
    const stop = () => (stopping ??= app.stop());
    ends.push(async () => {
      await stop();
      await gateway.stop();
      closeSync(logFd);
      removeFolder(folder);
    });
    const [destination] = await listed(app, "/v1/destinations", "admin");
    const path = `/v1/destinations/${String(destination?.["id"])}`;
    const change = (changes: object) =>
      app.as("admin", path, {
        method: "PATCH",
        body: JSON.stringify(changes),
        headers: { "content-type": "application/json" },
      });
    expect((await change({ maxConcurrent: 1, ...fields })).status).toBe(200);
    return {
      app,
      path,
      change,
      gateway,
      deliver: async (count: number) => {
        for (let n = 0; n < count; n += 1) {
          await app.deliverSample("task_tracker", "task.completed");
        }
      },
      state: async () => Object(await (await app.as("admin", path)).json()).state,
      /** Status, attempts and error of each delivery, oldest first. */
      deliveries: async () =>
        itemsOf(Object(await (await app.as("admin", `${path}/deliveries?limit=100`)).json()).data)
          .toReversed()
          .map(({ status, attemptCount, lastError }) => [status, attemptCount, lastError]),
      /** Stops the server first. */
      logged: async (message: string) => {
        await stop();
        const lines = readFileSync(logFile, "utf8").split("\n");
        return lines.filter((line) => line.includes(message));
      },
    };
  }

  test("413 gets that delivery once, and the others as before", async () => {
    const { app, deliver, deliveries, state } = await destinationOf(
      (number) => [413, 503, 200][number - 1] ?? 200,
      { orderBy: "event.provider" },
    );
    await deliver(2);
    // The second keeps its attempts, although the one before it died.
    await until(async () => {
      app.clock.advance(1_000);
      return (await deliveries())[1]?.[0] === "delivered";
    });
    expect(await deliveries()).toEqual([
      ["dead", 1, "HTTP 413"],
      ["delivered", 2, null],
    ]);
    expect(await state()).toBe("active");
  });

  test("410 is disabled, and what waits is sent after a resume", async () => {
    let status = 410;
    const { app, path, gateway, deliver, deliveries, state, change, logged } = await destinationOf(
      () => status,
      { state: "paused" },
    );
    await deliver(3);
    await change({ state: "active" });
    await until(async () => (await state()) === "disabled");
    // Is answered once the server has read the state again: until then, it makes deliveries.
    expect((await change({ maxConcurrent: 2 })).status).toBe(200);
    await deliver(1);
    const waiting = ["pending", 0, null];
    expect(await deliveries()).toEqual([["dead", 1, "HTTP 410"], waiting, waiting]);
    expect(gateway.received).toHaveLength(1);
    status = 200;
    expect((await app.as("admin", `${path}/resume`, { method: "POST" })).status).toBe(200);
    await until(async () => (await deliveries()).at(-1)?.[0] === "delivered");
    expect((await deliveries()).map(([is]) => is)).toEqual(["dead", "delivered", "delivered"]);
    expect(await logged("destination disabled")).toEqual([
      expect.stringContaining("the destination answered 410 Gone"),
    ]);
  });

  test("410 to several requests at once is disabled once, and gets no more", async () => {
    const all = Promise.withResolvers<number>();
    const { gateway, change, deliver, deliveries, state, logged } = await destinationOf(
      () => all.promise,
      { state: "paused", maxConcurrent: 8 },
    );
    await deliver(20);
    await change({ state: "active" });
    await until(() => gateway.received.length === 8);
    all.resolve(410);
    await until(async () => (await state()) === "disabled");
    await until(async () => (await deliveries()).filter(([is]) => is === "dead").length === 8);
    expect(gateway.received).toHaveLength(8);
    expect(await logged("destination disabled")).toHaveLength(1);
  });

  test("410 at an address that was changed meanwhile stays active", async () => {
    const first = Promise.withResolvers<number>();
    const { gateway, change, deliver, deliveries, state } = await destinationOf((number) =>
      number === 1 ? first.promise : 200,
    );
    await deliver(2);
    await until(() => gateway.received.length === 1);
    await change({ maxConcurrent: 2 });
    first.resolve(410);
    await until(async () => (await deliveries())[0]?.[0] === "dead");
    await until(async () => (await deliveries())[1]?.[0] === "delivered");
    expect(await state()).toBe("active");
  });
});
