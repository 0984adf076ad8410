import { type SQL, sql } from "drizzle-orm";

import { type Parameters, rowsAs, statementsOver } from "../db/statement.ts";
import { defineTable } from "../db/table.ts";

/** On PostgreSQL, events and their words are stored in a partition for each week. SQLite runs none of these statements. */
const statement = statementsOver({
  calls: defineTable("calls", { done: "text or null" }),
  weeks: defineTable("weeks", { week: "integer" }),
  sweeps: defineTable("sweeps", { kept: "integer", swept: "boolean" }),
  states: defineTable("states", {
    weeks: "integer",
    oldest: "integer or null",
    week: "integer or null",
    sweptAt: "instant or null",
    kept: "integer or null",
  }),
});

/** Calls a function whose result does not matter. */
const calling = <Values extends object>(call: (p: Parameters<Values>) => SQL) =>
  statement<Values>()((db, { calls }, p) =>
    db.select({ done: calls.done }).from(rowsAs(calls, sql`(select ${call(p)}::text as done)`)),
  );

/** Makes the partitions of a week, unless they exist. */
export const makeWeek = calling<{ week: number }>((p) => sql`make_week(${p.week})`);

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
export const dropWeek = calling<{ week: number }>((p) => sql`drop_week(${p.week})`);

/** Drops the keys of the weeks that were dropped, unless they are in use. */
export const dropGenerations = calling(() => sql`drop_generations()`);

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
