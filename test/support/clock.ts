import type { Clock } from "../../src/base/clock.ts";

/** A clock that changes only when a test moves it. */
export interface ManualClock extends Clock {
  /** Lets time pass; due timers fire in order. */
  advance(ms: number): void;
  /** Sets the clock forward, or back by a negative number. No time passes, so timers are not affected. */
  jump(ms: number): void;
}

export function manualClock(startMs = Date.UTC(2026, 10, 21, 9, 0, 0)): ManualClock {
  let now = startMs;
  let timers: { readonly at: number; readonly action: () => void }[] = [];
  /** The difference between the clock and the elapsed time. */
  let offset = 0;
  return {
    now: () => now + offset,
    jump(ms) {
      offset += ms;
    },
    after(delayMs, action) {
      const timer = { at: now + delayMs, action };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        now = Math.max(now, next.at);
        next.action();
      }
      now = until;
    },
  };
}
