import { serve } from "../../src/cli/serve.ts";
import { type Clock, systemClock } from "../../src/clock.ts";
import { readConfig } from "../../src/config.ts";
import { makeId } from "../../src/ids.ts";

// `skyhook serve`, all of it, under a clock that leaps ahead by CLOCK_LEAP_HOURS every
// CLOCK_LEAP_SECONDS, so that what is kept for days is past its time within minutes. Between two leaps
// time goes at its own pace, and timers always do.

const startMs = Date.now();
const everyMs = Number(process.env["CLOCK_LEAP_SECONDS"]) * 1_000;
const leapMs = Number(process.env["CLOCK_LEAP_HOURS"]) * 3_600_000;

const leapingClock: Clock = {
  ...systemClock,
  now() {
    const realMs = Date.now();
    return realMs + Math.floor((realMs - startMs) / everyMs) * Math.round(leapMs);
  },
};

await serve(readConfig(process.env), process.env, {
  clock: leapingClock,
  makeId,
  random: Math.random,
});
