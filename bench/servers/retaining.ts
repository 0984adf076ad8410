import { join } from "node:path";

import type { Clock } from "../../src/base/clock.ts";

// `skyhook serve` of the version in the folder PROGRAM. Retention runs every two seconds instead of every minute:
// its bursts are shorter, but take the same share of the time, and every run of a few seconds has some.

const program = process.env["PROGRAM"] ?? "";
const usualIntervalMs = 60_000;
const intervalMs = 2_000;
/** How far the clock is ahead, so that stored events expire. */
const shiftMs = Number(process.env["SHIFT_DAYS"] ?? 0) * 86_400_000;

// Guarantee: every version that is compared has these modules with these types.
const { serve } = (await import(
  join(program, "src/cli/serve.ts")
)) as typeof import("../../src/cli/serve.ts");
const { systemClock } = (await import(
  join(program, "src/base/clock.ts")
)) as typeof import("../../src/base/clock.ts");
const { makeId } = (await import(
  join(program, "src/base/ids.ts")
)) as typeof import("../../src/base/ids.ts");

const clock: Clock = {
  now: () => systemClock.now() + shiftMs,
  after: (delayMs, action) =>
    systemClock.after(delayMs === usualIntervalMs ? intervalMs : delayMs, action),
};

await serve(process.env, { clock, makeId, random: Math.random });
