import { describe, expect, test } from "bun:test";

import type { Storage } from "../../../src/db/storage.ts";
import { spansMinutes } from "../../../src/inbound/model/webhook-count.ts";
import { activeHours, countsBySteps } from "../../../src/inbound/model/webhook-counts.sql.ts";
import { latency } from "../../../src/inbound/receive/latency.ts";
import { countWrites, type MinuteCount, tally } from "../../../src/inbound/receive/tally.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { json, jsonWith, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { defaultDialect } from "../../support/databases.ts";
import { itemsOf } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";
import { notificationRow, sentWrites } from "../../support/rows.ts";
import { appPerTest } from "../../support/running-app.ts";

const app = appPerTest();
const taken = resources();

const flushMs = 2_000;
const minuteMs = 60_000;
const dayMs = 86_400_000;
const silent = createLog({ level: "silent", format: "json" });

const get = async (path: string) => json(await app.as("operator", path));
const all = { from: 0, to: 2 ** 31, stepMinutes: 1 };
const rows = async (storage: Storage) =>
  (
    await Promise.all(
      spansMinutes.map((spanMinutes) => storage.all(countsBySteps, { ...all, spanMinutes })),
    )
  ).flat();

/** Stores counts of deliveries that were received `agoMs` ago. */
async function counted(agoMs: number, fields: Partial<MinuteCount> = {}) {
  const minute = Math.floor((app.clock.now() - agoMs) / minuteMs);
  const count = {
    minute,
    provider: "code_host",
    verdict: "accepted",
    deliveries: 1,
    ...fields,
  } as const;
  await app.services.storage.atomically(...countWrites([count]));
}

/** The total of each series by provider and verdict. */
async function totals() {
  const series = itemsOf((await get("/v1/statistics/deliveries"))["series"]);
  return Object.fromEntries(
    series.map(({ provider, verdict, counts }) => [
      `${String(provider)} ${String(verdict)}`,
      (Array.isArray(counts) ? counts : []).reduce((sum: number, each) => sum + Number(each), 0),
    ]),
  );
}

describe("deliveries over time", () => {
  test("are counted by provider and verdict within seconds", async () => {
    await app.deliverSample("code_host", "workflow_run.completed");
    await app.deliver("task_tracker", "{}");
    await app.deliver("task_tracker", "{}");
    await app.deliver("task_tracker", "no JSON");
    await app.deliver("task_tracker", "{}", { secret: "another" });
    await app.fetch("/webhooks/nobody", { method: "POST" });
    app.clock.advance(flushMs);
    const expected = {
      "code_host accepted": 1,
      "task_tracker duplicate": 1,
      "task_tracker ignored": 1,
      "task_tracker rejected": 1,
      "task_tracker unreadable": 1,
      "unknown rejected": 1,
    };
    await until(async () => Bun.deepEquals(await totals(), expected));
  });

  test("default to the last hour, in whole steps", async () => {
    await counted(0, { deliveries: 7 });
    await counted(minuteMs, { deliveries: 2 });
    await counted(minuteMs, { deliveries: 3 });
    await counted(59 * minuteMs, { deliveries: 4 });
    await counted(61 * minuteMs, { deliveries: 100 });
    app.clock.advance(1);
    const counts = Array.from({ length: 61 }, () => 0);
    [counts[60], counts[59], counts[1]] = [7, 5, 4];
    expect(await get("/v1/statistics/deliveries")).toEqual({
      from: "2026-11-21T08:00:00.000Z",
      to: "2026-11-21T09:01:00.000Z",
      stepSeconds: 60,
      series: [{ provider: "code_host", verdict: "accepted", counts }],
    });
  });

  test("are summed in longer steps", async () => {
    for (const minutes of [1, 30, 59, 61, 119]) await counted(minutes * minuteMs);
    const query = "from=2026-11-21T07:30:00%2B01:00&to=2026-11-21T08:59:00Z&step=3600";
    expect(await get(`/v1/statistics/deliveries?${query}`)).toMatchObject({
      from: "2026-11-21T06:00:00.000Z",
      to: "2026-11-21T09:00:00.000Z",
      stepSeconds: 3_600,
      series: [{ counts: [0, 2, 3] }],
    });
  });

  test.each([
    ["step=61", "step"],
    ["step=0", "step"],
    ["step=86460", "step"],
    ["from=yesterday", "from"],
    ["from=2026-11-21T09:00:00", "from"],
    ["to=2026-11-21", "to"],
    ["from=2026-11-22T00:00:00Z", "from"],
    ["from=2026-11-01T00:00:00Z", "step"],
    ["from=2026-11-19T00:00:00Z&step=1800", "step"],
    ["step=60&step=60", "step"],
    ["to=-271821-04-20T00:00:30Z", "to"],
    ["to=%2B275760-09-13T00:00:00Z", "to"],
  ])("return 400 for ?%s", async (query, parameter) => {
    const response = await app.as("operator", `/v1/statistics/deliveries?${query}`);
    expect(await jsonWith(response, 400)).toMatchObject({
      code: "invalid-parameter",
      errors: [{ parameter }],
    });
  });

  test("are deleted after 31 days", async () => {
    await counted(30 * dayMs);
    for (let minute = 0; minute < 250; minute += 1) await counted(32 * dayMs + minute * minuteMs);
    app.clock.advance(minuteMs);
    await until(async () => (await rows(app.services.storage)).length === 2);
  });
});

describe("the tally", () => {
  test("sums the counts of several instances and writes all of them on stop", async () => {
    const url = `sqlite:${taken.newFile()}`;
    const [one, other] = [await taken.storage(url), await taken.storage(url)];
    const clock = manualClock();
    const tallies = [tally(one, clock, silent), tally(other, clock, silent)];
    for (const each of tallies) for (let n = 0; n < 5; n += 1) each.received("a", "accepted");
    await Promise.all(tallies.map((each) => each.stop()));
    expect((await rows(one)).map(({ deliveries }) => deliveries)).toEqual([10, 10]);
  });

  test("writes each row once, in a fixed order", () => {
    const counts = [
      { minute: 121, provider: "b", verdict: "accepted", deliveries: 1 },
      { minute: 120, provider: "b", verdict: "accepted", deliveries: 2 },
      { minute: 121, provider: "a", verdict: "accepted", deliveries: 4 },
    ] as const;
    const rows = (of: readonly MinuteCount[]) => countWrites(of).map(({ values }) => values);
    expect(rows(counts)).toEqual(rows(counts.toReversed()));
    expect(rows(counts)).toMatchObject([
      { spanMinutes: 1, minute: 120, provider: "b", deliveries: 2 },
      { spanMinutes: 1, minute: 121, provider: "a", deliveries: 4 },
      { spanMinutes: 1, minute: 121, provider: "b", deliveries: 1 },
      { spanMinutes: 60, minute: 120, provider: "a", deliveries: 4 },
      { spanMinutes: 60, minute: 120, provider: "b", deliveries: 3 },
    ]);
  });

  test("keeps counts that the database could not write and adds them later", async () => {
    const storage = await taken.storage("sqlite::memory:");
    const clock = manualClock();
    let failures = 1;
    const flaky: Storage = {
      ...storage,
      // Guarantee: the same function, except that its first call rejects.
      atomically: ((...steps: []) =>
        failures-- > 0
          ? Promise.reject(new Error("full"))
          : storage.atomically(...steps)) as Storage["atomically"],
    };
    const counting = tally(flaky, clock, silent);
    counting.received("a", "accepted");
    clock.advance(flushMs);
    counting.received("a", "accepted");
    await until(async () => {
      clock.advance(flushMs);
      return (await rows(storage))[0]?.deliveries === 2;
    });
  });

  test("counts verified deliveries of any verdict per hour", async () => {
    for (const verdict of ["accepted", "duplicate", "ignored", "unreadable"] as const) {
      await counted(minuteMs, { verdict });
    }
    await counted(10 * minuteMs, { verdict: "rejected" });
    await counted(20 * minuteMs, { provider: "task_tracker" });
    const minute = Math.floor(app.clock.now() / minuteMs) - 60;
    expect(
      await app.services.storage.all(activeHours, { provider: "code_host", limit: 9 }),
    ).toEqual([{ minute, deliveries: 4 }]);
  });
});

describe("health", () => {
  test("returns the outbox, acknowledgements, version and database", async () => {
    const at = (seconds: number) => new Date(app.clock.now() - seconds * 1_000);
    const stored = [
      ["pending", 10],
      ["retrying", 340],
      ["dead", 9_000],
      ["delivered", 9_001],
    ] as const;
    for (const [n, [status, seconds]] of stored.entries()) {
      const row = notificationRow(n, { createdAt: at(seconds) });
      await app.services.storage.atomically(...sentWrites(row, { status }));
    }
    await app.deliverSample("code_host", "workflow_run.completed");
    const health = await get("/v1/statistics/health");
    expect(health).toMatchObject({
      version: "0.1.0",
      database: defaultDialect,
      acknowledgements: { windowSeconds: 300, count: 1, p50Ms: expect.any(Number) },
      outbox: { pending: 1, retrying: 1, dead: 1, oldestSeconds: 340 },
    });
    expect(Number(health["uptimeSeconds"])).toBeGreaterThanOrEqual(0);
  });

  test("returns null quantiles before the first delivery", async () => {
    expect(await get("/v1/statistics/health")).toMatchObject({
      acknowledgements: { count: 0, p50Ms: null, p95Ms: null, p99Ms: null },
      outbox: { pending: 0, retrying: 0, dead: 0, oldestSeconds: null },
    });
  });
});

describe("latency", () => {
  test("is accurate to 5 % for short and long times", () => {
    for (const scale of [0.1, 1, 100]) {
      const watched = latency(manualClock());
      for (let n = 1; n <= 1_000; n += 1) watched.observe(n * scale);
      const { p50Ms, p95Ms, p99Ms } = watched.read();
      const found = [p50Ms, p95Ms, p99Ms].map((ms) => Number(ms) / scale);
      for (const [index, truth] of [500, 950, 990].entries()) {
        expect(Math.abs((found[index] ?? 0) / truth - 1)).toBeLessThan(0.055);
      }
    }
  });

  test("handles the shortest and longest times", () => {
    const watched = latency(manualClock());
    for (const ms of [0, 1e9]) watched.observe(ms);
    expect(watched.read()).toMatchObject({ count: 2 });
    expect(Number(watched.read().p99Ms)).toBeGreaterThan(60_000);
  });

  test("drops observations after five minutes", () => {
    const clock = manualClock();
    const watched = latency(clock);
    watched.observe(1);
    clock.advance(5 * minuteMs);
    watched.observe(1);
    expect(watched.read().count).toBe(2);
    clock.advance(minuteMs);
    expect(watched.read().count).toBe(1);
  });
});
