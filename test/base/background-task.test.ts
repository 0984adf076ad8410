import { expect, test } from "bun:test";

import { backgroundTask } from "../../src/base/background-task.ts";
import { manualClock } from "../support/clock.ts";

/** A task whose rounds end when the test ends them. */
function startTask(firstDelayMs?: number | null) {
  const clock = manualClock();
  const signals: AbortSignal[] = [];
  let end: (delayMs: number | null) => void = () => {};
  const task = backgroundTask(clock, (signal) => {
    const { promise, resolve } = Promise.withResolvers<number | null>();
    signals.push(signal);
    end = resolve;
    return promise;
  });
  task.start(firstDelayMs);
  return {
    clock,
    task,
    signals,
    rounds: () => signals.length,
    /** Ends the running round, and waits until the task has noticed. */
    end: async (delayMs: number | null) => {
      end(delayMs);
      await Bun.sleep(0);
    },
  };
}

test("begins a round after the delay that the last one returned", async () => {
  const { clock, rounds, end } = startTask(100);
  clock.advance(99);
  expect(rounds()).toBe(0);
  clock.advance(1);
  expect(rounds()).toBe(1);
  await end(50);
  clock.advance(49);
  expect(rounds()).toBe(1);
  clock.advance(1);
  expect(rounds()).toBe(2);
});

test("begins a round at once when it is started or woken, and then not when it was due", async () => {
  const { clock, task, rounds, end } = startTask();
  expect(rounds()).toBe(1);
  await end(50);
  task.wake();
  expect(rounds()).toBe(2);
  await end(null);
  clock.advance(1_000);
  expect(rounds()).toBe(2);
});

test("waits to be woken where no round is due", async () => {
  const { clock, task, rounds } = startTask(null);
  clock.advance(1_000_000);
  expect(rounds()).toBe(0);
  task.wake();
  expect(rounds()).toBe(1);
});

test("runs one more round, and not two at a time, when it is woken during a round", async () => {
  const { clock, task, rounds, end } = startTask();
  task.wake();
  task.wake();
  expect(rounds()).toBe(1);
  await end(50);
  expect(rounds()).toBe(2);
  await end(null);
  clock.advance(50);
  expect(rounds()).toBe(2);
});

test("stops after the running round, whose signal is aborted", async () => {
  const { clock, task, signals, rounds, end } = startTask();
  task.wake();
  let hasStopped = false;
  const stopped = task.stop().then(() => (hasStopped = true));
  expect(signals[0]?.aborted).toBe(true);
  await Bun.sleep(0);
  expect(hasStopped).toBe(false);
  await end(50);
  await stopped;
  task.wake();
  clock.advance(1_000);
  expect(rounds()).toBe(1);
});

test("does nothing while it is stopped, and can be started again", async () => {
  const { clock, task, rounds } = startTask(10);
  await task.stop();
  task.wake();
  clock.advance(1_000);
  expect(rounds()).toBe(0);
  task.start();
  expect(rounds()).toBe(1);
});
