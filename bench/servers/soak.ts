import { serve } from "../../src/cli/serve.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { makeId } from "../../src/base/ids.ts";

// `skyhook serve`, all of it, under a clock that runs CLOCK_SPEED times as fast, so that what is kept for
// days is past its time within minutes. Timers follow it, down to the shortest that is worth setting.

const startMs = Date.now();
const speed = Number(process.env["CLOCK_SPEED"]);
const shortestTimerMs = 100;

const fastClock: Clock = {
  now: () => startMs + Math.floor((Date.now() - startMs) * speed),
  after: (delayMs, action) => systemClock.after(Math.max(shortestTimerMs, delayMs / speed), action),
};

await serve(process.env, {
  clock: fastClock,
  makeId,
  random: Math.random,
});
