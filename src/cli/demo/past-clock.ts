import { type Clock, systemClock } from "../../base/clock.ts";

/** A clock that can be set back, to make data of the past. Timers run as usual. */
export interface PastClock extends Clock {
  /** 0: the present. */
  setBack(ms: number): void;
}

export function pastClock(): PastClock {
  let behindMs = 0;
  return {
    now: () => systemClock.now() - behindMs,
    after: (delayMs, action) => systemClock.after(delayMs, action),
    setBack(ms) {
      behindMs = ms;
    },
  };
}
