import { type Clock, systemClock } from "../../src/base/clock.ts";
import { makeId } from "../../src/base/ids.ts";
import { serve } from "../../src/cli/host/serve.ts";

// `skyhook serve`, with retention every two seconds instead of every minute: its bursts are shorter, but take the same
// share of the time.

const usualIntervalMs = 60_000;
const intervalMs = 2_000;
/** How far the clock is ahead, so that stored events expire. */
const shiftMs = Number(process.env["SHIFT_DAYS"] ?? 0) * 86_400_000;

const clock: Clock = {
  now: () => systemClock.now() + shiftMs,
  after: (delayMs, action) =>
    systemClock.after(delayMs === usualIntervalMs ? intervalMs : delayMs, action),
};

await serve(process.env, { clock, makeId, random: Math.random });
