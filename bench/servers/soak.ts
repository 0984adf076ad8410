import { type Clock, systemClock } from "../../src/base/clock.ts";
import { makeId } from "../../src/base/ids.ts";
import { serve } from "../../src/cli/serve.ts";

// The complete `skyhook serve` with a clock and timers that run CLOCK_SPEED times as fast, so that data expires
// within minutes instead of days. Timers have a minimum of 100 ms.

const startMs = Date.now();
const speed = Number(process.env["CLOCK_SPEED"]);
const minTimerMs = 100;

const fastClock: Clock = {
  now: () => startMs + Math.floor((Date.now() - startMs) * speed),
  after: (delayMs, action) => systemClock.after(Math.max(minTimerMs, delayMs / speed), action),
};

await serve(process.env, {
  clock: fastClock,
  makeId,
  random: Math.random,
});
