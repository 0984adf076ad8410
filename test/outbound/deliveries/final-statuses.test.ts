import { describe, expect, test } from "bun:test";

import { until } from "../../support/app.ts";
import { gatewayDestination } from "../../support/destination.ts";
import { resources } from "../../support/resources.ts";

describe("a destination that answers", () => {
  const taken = resources();

  /** `answer`: the status of each request. */
  async function destinationOf(
    answer: (number: number) => number | Promise<number>,
    fields: object = {},
  ) {
    const { logFd, text } = taken.log();
    const destination = await gatewayDestination(
      taken,
      async (number) => new Response(null, { status: await answer(number) }),
      { maxConcurrent: 1, ...fields },
      [{ LOG_LEVEL: "warn" }, undefined, { logFd }],
    );
    return {
      ...destination,
      /** Status, attempts and error of each delivery, oldest first. */
      deliveries: async () =>
        (await destination.deliveries())
          .toReversed()
          .map(({ status, attemptCount, lastError }) => [status, attemptCount, lastError]),
      /** Stops the server first, which writes the rest of the log. */
      logged: async (message: string) => {
        await destination.app.stop();
        return text()
          .split("\n")
          .filter((line) => line.includes(message));
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
    await change({ maxConcurrent: 2 });
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
