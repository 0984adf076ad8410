import type { Storage } from "../../db/storage.ts";
import { startOfWeek, weeksState } from "../../event/weeks.sql.ts";

const dayMs = 86_400_000;

/** The weeks of events in a PostgreSQL database, and what retention did with them. */
export interface Weeks {
  /** How many there are, with those made ahead. */
  readonly count: number;
  /** The first day of the oldest. */
  readonly oldest: Date;
  /** When the next is deleted, except what must be kept. */
  readonly nextAt: Date;
  /** The newest that was deleted; null if none was yet. */
  readonly last: { readonly week: Date; readonly at: Date; readonly kept: number } | null;
}

/** Null on SQLite, where retention deletes events one by one, and before the first event. */
export async function readWeeks(storage: Storage, eventDays: number): Promise<Weeks | null> {
  const [state] = storage.dialect === "postgres" ? await storage.all(weeksState, {}) : [];
  if (state === undefined || state.oldest === null) return null;
  const { weeks, oldest, week, sweptAt, kept } = state;
  const next = Math.max(oldest, (week ?? -1) + 1);
  return {
    count: weeks,
    oldest: new Date(startOfWeek(oldest)),
    nextAt: new Date(startOfWeek(next + 1) + eventDays * dayMs),
    last:
      week === null || sweptAt === null
        ? null
        : { week: new Date(startOfWeek(week)), at: sweptAt, kept: kept ?? 0 },
  };
}
