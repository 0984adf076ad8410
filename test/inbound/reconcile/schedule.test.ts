import { afterEach, expect, test } from "bun:test";

import { countWrites } from "../../../src/inbound/receive/tally.ts";
import { until } from "../../support/app.ts";
import {
  isLost,
  metricOf,
  startForTest,
  startReconciled,
  statusOf,
  stopAll,
  storedEvents,
  workflowRun,
} from "../../support/reconcile.ts";

const minuteMs = 60_000;
afterEach(stopAll);

const timed = { RECONCILE_MINUTES: "15" };

test("runs at the start, because the service may have been down", async () => {
  const { app, github } = await startReconciled({}, timed);
  await until(async () => (await statusOf(app))["checkedAt"] !== null);
  expect(github.requests).toHaveLength(1);
});

test("runs every interval", async () => {
  const { app, github } = await startReconciled({}, timed);
  await until(async () => (await statusOf(app))["checkedAt"] !== null);
  await github.deliver(workflowRun(app), isLost);
  for (let minute = 0; minute < 14; minute += 1) {
    app.clock.advance(minuteMs);
    await Bun.sleep(5);
  }
  expect(await storedEvents(app)).toHaveLength(0);
  await until(async () => {
    app.clock.advance(minuteMs / 4);
    return (await storedEvents(app)).length === 1;
  });
});

test.each([
  [1_440, 5],
  [2, 2],
])("with %i minutes between runs, runs again %i minutes after a failure", async (every, after) => {
  let isBroken = true;
  const { app, github } = await startReconciled(
    { answer: () => (isBroken ? Response.json({ message: "no" }, { status: 401 }) : undefined) },
    { RECONCILE_MINUTES: String(every) },
  );
  await until(async () => (await statusOf(app))["error"] !== null);
  const { nextRunAt, checkedAt } = await statusOf(app);
  expect(Date.parse(String(nextRunAt)) - Date.parse(String(checkedAt))).toBe(after * minuteMs);
  isBroken = false;
  await github.deliver(workflowRun(app), isLost);
  await until(async () => {
    app.clock.advance(minuteMs / 4);
    return (await statusOf(app))["error"] === null;
  });
  expect(await statusOf(app)).toMatchObject({ error: null, recovered: 1 });
});

test("does not run while the API limits its rate, also for longer than an interval", async () => {
  const headers = { "retry-after": "3600" };
  const { app } = await startReconciled(
    { answer: () => Response.json({}, { status: 429, headers }) },
    timed,
  );
  await until(async () => Boolean((await statusOf(app))["pausedUntil"]));
  for (let minute = 0; minute < 20; minute += 1) {
    app.clock.advance(minuteMs);
    await Bun.sleep(5);
  }
  const paused = 'skyhook_reconcile_runs_total{provider="code_host",result="paused"}';
  expect(await metricOf(app, paused)).toEndWith(" 1");
});

test("runs when the provider becomes silent", async () => {
  const { app, github } = await startReconciled({}, { RECONCILE_MINUTES: "1440" });
  await until(async () => (await statusOf(app))["checkedAt"] !== null);
  // It usually sends every five minutes.
  const minute = Math.floor(app.clock.now() / minuteMs);
  for (let hour = 0; hour < 3; hour += 1) {
    const count = { provider: "code_host", verdict: "accepted", deliveries: 12 } as const;
    await app.services.storage.atomically(
      ...countWrites([{ ...count, minute: minute - hour * 60 }]),
    );
  }
  await app.deliver("code_host", JSON.stringify(workflowRun(app).payload));
  await github.deliver(workflowRun(app), isLost);
  for (let passedMs = 0; passedMs < 5 * 3_600_000; passedMs += 10 * minuteMs) {
    app.clock.advance(10 * minuteMs);
    await Bun.sleep(2);
  }
  // The next run by time would be in 19 hours.
  await until(async () => {
    app.clock.advance(1_000);
    return (await storedEvents(app)).length === 2;
  });
});

test("is off with RECONCILE_MINUTES=0, and without a token", async () => {
  const off = await startReconciled({}, { RECONCILE_MINUTES: "0" });
  off.app.clock.advance(3_600_000);
  const { CODE_HOST_HOOK: _, ...env } = { CODE_HOST_HOOK: "", ...timed };
  const none = await startForTest(env);
  none.clock.advance(3_600_000);
  await Bun.sleep(20);
  expect(off.github.requests).toEqual([]);
  expect(await statusOf(none)).toEqual({});
});
