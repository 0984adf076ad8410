import { describe, expect, test } from "bun:test";

import { jsonWith, type TestApp, until } from "../../support/app.ts";
import { gatewayDestination } from "../../support/destination.ts";
import { hour, second, untilLater } from "../../support/notifying.ts";
import { itemsOf } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";

/** From this many failures in a row on, nothing is sent but probes. */
const threshold = 10;

describe("a circuit", () => {
  const taken = resources();

  /** A destination that fails until `recover`, and when by Skyhook's clock each request was sent. */
  async function failing(fields: object = {}) {
    let status = 503;
    const times: number[] = [];
    const destination = await gatewayDestination(
      taken,
      (_, { headers }) => {
        times.push(Number(headers["webhook-timestamp"]) * second);
        return new Response(null, { status });
      },
      fields,
    );
    const { deliveries } = destination;
    return {
      ...destination,
      times,
      recover: () => (status = 200),
      attempts: async () =>
        (await deliveries()).flatMap((delivery) => itemsOf(delivery["attempts"])),
    };
  }

  const passing = (app: TestApp, condition: () => boolean | Promise<boolean>, stepMs = second) =>
    untilLater(app, condition, stepMs);

  test("that is open sends one probe every 30 s, and records no attempt that was not made", async () => {
    const { app, times, attempts, deliveries, health, deliver } = await failing({
      maxConcurrent: 1,
    });
    await deliver(30);
    await passing(app, async () => (await health())["circuit"] === "open");
    // In small steps: the clock advances while a probe is claimed and sent, on a busy machine for long.
    await passing(app, () => times.length >= threshold + 6, second / 5);
    const [first = 0, ...later] = times.slice(threshold, threshold + 6);
    const tookSeconds = ((later.at(-1) ?? 0) - first) / second;
    expect(tookSeconds).toBeGreaterThan(5 * 30 - 15);
    expect(tookSeconds).toBeLessThan(2 * 5 * 30);
    // The clock stands still: with time passing, the next probe could be sent before it is recorded.
    await until(async () => (await attempts()).length >= times.length);
    expect(await attempts()).toHaveLength(times.length);
    const counts = (await deliveries()).map(({ attemptCount }) => Number(attemptCount));
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(times.length);
    expect(await health()).toMatchObject({ waiting: 30, dead: 0 });
  });

  test("probes what waits although it is not due, without using up its attempts", async () => {
    const { app, times, recover, attempts, deliveries, health, deliver } = await failing();
    await deliver(2);
    // Each is attempted after 5 s, 30 s, 2 min and 10 min. The next attempts are an hour later.
    await passing(app, () => times.length >= threshold, 5 * second);
    await until(async () => (await health())["circuit"] === "open");
    const openedAt = app.clock.now();
    await passing(app, () => times.length >= threshold + 10, 5 * second);
    expect(app.clock.now() - openedAt).toBeLessThan(hour);
    await until(async () => (await attempts()).length >= threshold + 10);
    const waiting = await deliveries();
    expect(waiting.map(({ status }) => status)).toEqual(["retrying", "retrying"]);
    const counts = waiting.map(({ attemptCount }) => Number(attemptCount));
    expect(Math.max(...counts)).toBeLessThanOrEqual(threshold / 2);
    recover();
    const recoveredAt = app.clock.now();
    await passing(app, async () => (await health())["waiting"] === 0);
    expect(app.clock.now() - recoveredAt).toBeLessThan(hour / 10);
    expect(await health()).toMatchObject({ circuit: "closed", waiting: 0, dead: 0 });
  });

  test.each([
    ["a successful test", "test", { delivered: true }],
    ["a retry of its dead deliveries", "retry", { retried: 0 }],
    ["a resume", "resume", { failures: 0, openUntil: null, failingSince: null }],
  ])("is closed by %s, and what waits is sent at once", async (_, action, answer) => {
    const { app, path, times, recover, health, deliver } = await failing();
    await deliver(12);
    await until(async () => (await health())["circuit"] === "open");
    const before = times.length;
    recover();
    const acted = await app.as("admin", `${path}/${action}`, { method: "POST" });
    expect(await jsonWith(acted, 200)).toMatchObject(answer);
    // No time passes.
    await until(async () => (await health())["waiting"] === 0);
    expect(await health()).toMatchObject({ circuit: "closed", dead: 0 });
    expect(times.length).toBeGreaterThanOrEqual(before + 12);
  });

  test("that a failed test finds open stays open", async () => {
    const { app, path, times, health, deliver } = await failing();
    await deliver(threshold);
    await until(async () => (await health())["circuit"] === "open");
    const before = times.length;
    await app.as("admin", `${path}/test`, { method: "POST" });
    expect(times).toHaveLength(before + 1);
    expect(await health()).toMatchObject({ circuit: "open" });
  });
});
