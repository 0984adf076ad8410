import type { Storage } from "../../db/storage.ts";

import { countUndelivered } from "./notifications.sql.ts";

/** The notifications that are not delivered. */
export interface Backlog {
  readonly pending: number;
  readonly retrying: number;
  readonly dead: number;
  /** Age of the oldest pending or retrying one, in milliseconds; null without one. */
  readonly oldestMs: number | null;
  /** Age of the oldest retrying one, in milliseconds; null without one. */
  readonly oldestRetryingMs: number | null;
}

/** After a count, callers share its result for so many times as long: counting takes a twentieth of the time at most. */
const restFactor = 19;
/** But never longer: the result is what alerts look at, and a count may have waited for other reads. */
const longestRestMs = 10_000;

/** Counts all undelivered notifications, but not for each caller: anyone may read the metrics, and there may be many. */
export function sharedBacklog(storage: Storage, now: () => number): () => Promise<Backlog> {
  let last: Promise<Backlog> | null = null;
  let restsUntilMs = 0;
  async function count(): Promise<Backlog> {
    restsUntilMs = Infinity;
    const startedMs = performance.now();
    try {
      return await readBacklog(storage, now());
    } finally {
      const endedMs = performance.now();
      restsUntilMs = endedMs + Math.min((endedMs - startedMs) * restFactor, longestRestMs);
    }
  }
  return () => {
    if (last === null || performance.now() >= restsUntilMs) {
      last = count();
      // The next caller counts again.
      last.catch(() => (last = null));
    }
    return last;
  };
}

export async function readBacklog(storage: Storage, nowMs: number): Promise<Backlog> {
  const groups = await storage.all(countUndelivered, {}, "long");
  const countOf = (status: string) => groups.find((group) => group.status === status)?.count ?? 0;
  const ageOf = (...statuses: readonly string[]) => {
    const times = groups.filter(({ status }) => statuses.includes(status));
    const oldest = Math.min(...times.map((group) => group.oldest.getTime()));
    // After the clock was set back, creation times can be in the future.
    return times.length === 0 ? null : Math.max(0, nowMs - oldest);
  };
  return {
    pending: countOf("pending"),
    retrying: countOf("retrying"),
    dead: countOf("dead"),
    oldestMs: ageOf("pending", "retrying"),
    oldestRetryingMs: ageOf("retrying"),
  };
}
