/** The time that the SDKs see. */
export const clock = { now: Date.parse("2026-11-22T12:00:00.000Z") };

/** Replaces `Date` by one that reads the clock above. */
export function fixClock() {
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      if (given.length === 0) super(clock.now);
      else super(...given);
    }
    static now() {
      return clock.now;
    }
  };
}
