import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Booking } from "../model/booking.ts";
import type { HoldPurpose } from "../model/seat-hold.ts";

import { expiredHolds, nextHold } from "./seat-holds.sql.ts";

/**
 * Ends what holds seats for one purpose, unless another request or process has ended it, and releases them. The holds are
 * those of `bookingIds`. Returns for each whether it ended it.
 */
export type EndExpired = (
  bookingIds: readonly Booking["id"][],
  now: Date,
) => Promise<readonly boolean[]>;

interface Parts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly ending: Readonly<Record<HoldPurpose, EndExpired>>;
}

/** Holds released at once: they share a group commit. */
const batchSize = 100;
/** The longest time between two looks, for holds of other instances and after the clock was set forward. */
const longestSleepMs = 2_000;

/** Releases the seats of holds that were not paid or confirmed in time. Wake it after one was committed. */
export function holdExpiry({ storage, clock, log, ending }: Parts): BackgroundTask {
  const task = backgroundTask(clock, async () => {
    try {
      const now = new Date(clock.now());
      const due = await storage.all(expiredHolds, { now, limit: batchSize });
      const byPurpose = Map.groupBy(due, ({ purpose }) => purpose);
      const ended = await Promise.all(
        [...byPurpose].map(([purpose, holds]) => {
          const ids = holds.map(({ bookingId }) => bookingId);
          return ending[purpose](ids, now);
        }),
      );
      if (due.length > 0 && !ended.flat().includes(true)) return longestSleepMs;
      if (due.length === batchSize) {
        task.wake();
        return null;
      }
      const [next] = await storage.all(nextHold, {});
      const untilMs = next === undefined ? longestSleepMs : next.expiresAt.getTime() - clock.now();
      return Math.min(Math.max(untilMs, 10), longestSleepMs);
    } catch (error) {
      log.error({ err: error }, "failed to release expired holds; retrying");
      return longestSleepMs;
    }
  });
  return task;
}
