import { sql } from "drizzle-orm";

import { rowsAs, statementsOver } from "../db/statement.ts";
import { defineTable } from "../db/table.ts";

/** On PostgreSQL, events and their words are stored in a partition for each week. SQLite runs none of these statements. */
const statement = statementsOver({ weeks: defineTable("weeks", { made: "text or null" }) });

/** Makes the partitions of all weeks between two positions, unless they exist. */
export const makeWeeks = statement<{ first: number; last: number }>()((db, { weeks }, p) =>
  db
    .select({ made: weeks.made })
    .from(rowsAs(weeks, sql`(select make_weeks(${p.first}, ${p.last})::text as made)`)),
);
