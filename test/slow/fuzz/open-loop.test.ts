import { describe, expect, test } from "bun:test";

import { histogram } from "../../../bench/measure.ts";

import { openLoop, type OpenLoopPlan } from "./open-loop.ts";

/**
 * Runs a load on a server that answers after `serviceMs`, in virtual milliseconds, except that it answers
 * nothing from `stallMs` until `stallEndMs`. The times of sending, and the latencies in the order of answers.
 */
function simulate(
  plan: Omit<OpenLoopPlan, "send" | "sentLate">,
  { serviceMs = 1, stallMs = 0, stallEndMs = 0 } = {},
) {
  const sentMs: number[] = [];
  const latencies: (number | null)[] = [];
  const late: number[] = [];
  const answers = new Map<number, number>();
  let nowMs = 0;
  const loop = openLoop({
    ...plan,
    send(connection) {
      sentMs.push(nowMs);
      const doneMs = nowMs + serviceMs;
      answers.set(connection, doneMs > stallMs && doneMs < stallEndMs ? stallEndMs : doneMs);
    },
    sentLate: (lateMs) => late.push(lateMs),
  });
  for (; !loop.isDone(); nowMs += 1) {
    for (const [connection, doneMs] of answers) {
      if (doneMs > nowMs) continue;
      answers.delete(connection);
      latencies.push(loop.answer(connection, nowMs));
    }
    loop.sendDue(nowMs);
  }
  return { sentMs, latencies, late };
}

const base = { ratePerSecond: 100, connections: 8, count: 200, firstTimed: 0 };

describe("an open loop", () => {
  test("sends each request when it is due, not after the response before it", () => {
    const { sentMs, latencies } = simulate(base, { serviceMs: 45 });
    expect(sentMs).toEqual(Array.from({ length: 200 }, (_, request) => request * 10));
    expect(new Set(latencies)).toEqual(new Set([45]));
  });

  test("counts the requests that a closed loop would not send during a stall", () => {
    const { latencies } = simulate(
      { ...base, connections: 1 },
      { stallMs: 500, stallEndMs: 1_000 },
    );
    const slow = latencies.filter((latencyMs) => latencyMs !== null && latencyMs > 10);
    // Due each 10 ms from 500 ms on; a closed loop would have seen one slow response.
    expect(slow.length).toBeGreaterThanOrEqual(50);
    expect(Math.max(...slow.map(Number))).toBe(500);
    const times = histogram();
    for (const latencyMs of latencies) times.record(latencyMs ?? 0);
    expect(times.quantile(0.99)).toBeGreaterThan(400);
  });

  test("counts the wait for a free connection as latency, not as lateness of the sender", () => {
    const { latencies, late } = simulate({ ...base, connections: 1, count: 3 }, { serviceMs: 30 });
    expect(latencies).toEqual([30, 50, 70]);
    expect(late).toEqual([0, 0, 0]);
  });

  test("reports how late it sent a request although a connection was free", () => {
    const late: number[] = [];
    const sentLate = (lateMs: number) => void late.push(lateMs);
    const loop = openLoop({ ...base, count: 2, send() {}, sentLate });
    loop.sendDue(0);
    loop.sendDue(17);
    expect(late).toEqual([0, 7]);
  });
});

describe("a histogram of latencies", () => {
  test("has quantiles with three significant digits", () => {
    const times = histogram();
    for (let ms = 1; ms <= 10_000; ms += 1) times.record(ms);
    for (const [quantile, expected] of [
      [0.5, 5_000],
      [0.9, 9_000],
      [0.99, 9_900],
      [0.999, 9_990],
      [1, 10_000],
    ] as const) {
      expect(Math.abs(times.quantile(quantile) - expected)).toBeLessThan(expected / 1_000);
    }
    expect(times.count()).toBe(10_000);
  });

  test("keeps microseconds, and counts what is longer than ten minutes as ten minutes", () => {
    const times = histogram();
    times.record(0.0124);
    expect(times.quantile(1)).toBe(0.012);
    times.record(1e9);
    expect(times.quantile(1)).toBeGreaterThan(599_000);
  });
});
