// Loaded before the program: its clock is ahead by the milliseconds in the file CLOCK_AHEAD_FILE, which a test changes
// while the program runs. Its timers follow the clock, so that an hour passes for the program at once.
import { readFileSync } from "node:fs";

import { type Clock, systemClock } from "../../src/base/clock.ts";

const file = process.env["CLOCK_AHEAD_FILE"] ?? "";
const checkMs = 20;

interface Timer {
  readonly dueMs: number;
  readonly action: () => void;
}

const timers = new Set<Timer>();
const now = () => Date.now() + Number(readFileSync(file, "utf8"));

const moved: Clock = {
  now,
  after(delayMs, action) {
    const timer = { dueMs: now() + delayMs, action };
    timers.add(timer);
    return () => timers.delete(timer);
  },
};

setInterval(() => {
  const nowMs = now();
  const due = [...timers].filter(({ dueMs }) => dueMs <= nowMs);
  for (const timer of due.toSorted((one, other) => one.dueMs - other.dueMs)) {
    // An earlier timer may have cancelled this one.
    if (timers.delete(timer)) timer.action();
  }
}, checkMs).unref();

Object.assign(systemClock, moved);
