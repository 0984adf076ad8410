import type { Clock } from "../../src/clock.ts";

/** A clock that stands still until it is moved; timers fire as it passes them, in order. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(startMs = Date.UTC(2026, 10, 21, 9, 0, 0)): ManualClock {
  let now = startMs;
  let timers: { at: number; action: () => void }[] = [];
  return {
    now: () => now,
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
