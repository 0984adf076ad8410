import { sql } from "drizzle-orm";

import { rowsAs, statementsOver } from "../db/statement.ts";
import { defineTable } from "../db/table.ts";

/** On PostgreSQL, events and their words are stored in a partition for each week. SQLite runs none of these statements. */
const statement = statementsOver({
  made: defineTable("made", { done: "text or null" }),
  weeks: defineTable("weeks", { week: "integer" }),
  sweeps: defineTable("sweeps", { kept: "integer", swept: "boolean" }),
  drops: defineTable("drops", { dropped: "boolean" }),
  states: defineTable("states", {
    weeks: "integer",
    oldest: "integer or null",
    week: "integer or null",
    sweptAt: "instant or null",
    kept: "integer or null",
  }),
});

/** Makes the partitions of a week, unless they exist. */
export const makeWeek = statement<{ week: number }>()((db, { made }, p) =>
  db
    .select({ done: made.done })
    .from(rowsAs(made, sql`(select make_week(${p.week})::text as done)`)),
);

/** The weeks that have ended before a position, oldest first. */
export const weeksUntil = statement<{ until: number }>()((db, { weeks }, p) =>
  db
    .select({ week: weeks.week })
    .from(
      rowsAs(
        weeks,
        sql`(select week from event_weeks() as week where first_position(week + 1) <= ${p.until} order by week)`,
      ),
    ),
);

/**
 * Deletes the events of a week, with their words, except those that still have notifications or whose body another one
 * needs. `most`: the most events that are kept; with more, none is deleted. Returns no row if the week is in use.
 */
export const sweepWeek = statement<{ week: number; most: number; nowMs: number }>()(
  (db, { sweeps }, p) =>
    db
      .select({ kept: sweeps.kept, swept: sweeps.swept })
      .from(rowsAs(sweeps, sql`(select * from sweep_week(${p.week}, ${p.most}, ${p.nowMs}))`)),
);

/** Drops the partitions of a week, unless it has events or is in use. */
export const dropWeek = statement<{ week: number }>()((db, { drops }, p) =>
  db
    .select({ dropped: drops.dropped })
    .from(rowsAs(drops, sql`(select drop_week(${p.week}) as dropped)`)),
);

/** Drops the keys of the weeks that were dropped, unless they are in use. */
export const dropGenerations = statement()((db, { made }) =>
  db.select({ done: made.done }).from(rowsAs(made, sql`(select drop_generations()::text as done)`)),
);

/** The partitions that exist, and what retention deleted last. */
export const weeksState = statement()((db, { states }) => {
  const { weeks, oldest, week, sweptAt, kept } = states;
  return db
    .select({ weeks, oldest, week, sweptAt, kept })
    .from(
      rowsAs(
        states,
        sql`(select count(*)::integer as weeks, min(each) as oldest, max(week) as week, max(swept_at) as swept_at, max(kept) as kept from event_weeks() as each left join last_sweep on true)`,
      ),
    );
});

const weekMs = 7 * 86_400_000;

/** The first millisecond of a week. The first week began with the epoch. */
export function startOfWeek(week: number): number {
  return week * weekMs;
}

/** The week of a time. */
export function weekAt(atMs: number): number {
  return Math.floor(atMs / weekMs);
}
