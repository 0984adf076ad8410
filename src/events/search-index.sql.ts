import { asc, desc, gt, sql } from "drizzle-orm";

import { type Dialect, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";
import { eventsTable } from "../event/event.ts";
import { notificationsTable } from "../outbound/model/notification.ts";
import { rankOf } from "../outbound/model/notifications.sql.ts";

import { eventWordsTable, indexCommandsTable } from "./event-index.ts";

const tables = {
  events: eventsTable,
  notifications: notificationsTable,
  eventWords: eventWordsTable,
  indexCommands: indexCommandsTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The position of the last indexed event. Returns no row if the index is empty. */
export const lastIndexed = statement()((db, { eventWords }) =>
  db
    .select({ position: eventWords.rowid })
    .from(eventWords)
    .orderBy(desc(eventWords.rowid))
    .limit(1),
);

/** The position of the event after so many others that follow a position, if there is one. */
export const positionAfter = statement<{ after: number; skip: number }>()((db, { events }, p) =>
  db
    .select({ position: events.position })
    .from(events)
    .where(gt(events.position, p.after))
    .orderBy(asc(events.position))
    .limit(1)
    .offset(p.skip),
);

/** What the index has of an event. `severityRank`: that of its most severe notification. */
function indexedColumns({ events, notifications }: Tables) {
  const { position, provider, type, status, title, actor, subject, data, changes } = events;
  const severityRank = sql<number | null>`(select max(${rankOf(sql`${notifications.severity}`)})
      from ${notifications} where ${notifications}.event = ${events}.position)`;
  return { position, provider, type, status, title, actor, subject, data, changes, severityRank };
}

/** The next events to index, in the order of commits. */
export const eventsToIndex = statement<{ after: number; until: number; limit: number }>()(
  (db, t, p) =>
    db
      .select(indexedColumns(t))
      .from(t.events)
      .where(sql`${t.events.position} > ${p.after} and ${t.events.position} <= ${p.until}`)
      .orderBy(asc(t.events.position))
      .limit(p.limit),
);

/** Indexed events whose words have changed. */
export const changedEvents = statement<{ until: number; limit: number }>()((db, t, p) =>
  db
    .select(indexedColumns(t))
    .from(t.events)
    .where(sql`${t.events.changes} > 0 and ${t.events.position} <= ${p.until}`)
    .orderBy(asc(t.events.position))
    .limit(p.limit),
);

/** The words of an event. `changes`: those that it had when they were read. */
export interface WordsOfEvent {
  readonly position: number;
  readonly changes: number;
  readonly words: string;
}

interface Words {
  readonly rows: readonly WordsOfEvent[];
}

/** True for the events that have not changed since these words were read. */
const isUnchanged = ({ events }: Tables) =>
  sql`${events.position} = given.position and ${events.changes} = given.changes`;

/** Deletes the words of events that have not changed meanwhile: another instance may have stored newer ones. */
export const deleteWords = statement<Words>()((db, t, p, dialect) =>
  db
    .delete(t.eventWords)
    .where(
      sql`${t.eventWords.rowid} in (select given.position from ${given(t, p.rows, dialect)} join ${t.events} on ${isUnchanged(t)})`,
    ),
);

/**
 * Stores the words of events that have none, unless they were deleted or changed meanwhile. Of several instances, one
 * writes at a time.
 */
export const insertWords = statement<Words>()(
  (db, t, p, dialect) =>
    db.insert(t.eventWords).select(
      sql`select given.position, ${dialect.vectorOf(sql`given.words`)} from ${given(t, p.rows, dialect)} join ${t.events} on ${isUnchanged(t)}
        where not exists (select 1 from ${t.eventWords} where ${t.eventWords.rowid} = given.position)`,
    ),
  { contended: () => ({ table: eventWordsTable, ids: [0] }) },
);

/** The words of changed events are up to date now. A number of changes is never used twice. */
export const setUpToDate = statement<Words>()((db, t, p, dialect) =>
  db
    .update(t.events)
    .set({ changes: sql`-${t.events.changes}` })
    .from(given(t, p.rows, dialect))
    .where(isUnchanged(t)),
);

function given(
  { events: { position, changes }, eventWords: { words } }: Tables,
  rows: Parameters<Dialect["rows"]>[0],
  dialect: Dialect,
) {
  return dialect.rows(rows, { position, changes, words }, "given");
}

/** Merges about so many pages of segments, if there are enough segments. Only on SQLite. */
export const mergeSegments = statement<{ pages: number }>()((db, { indexCommands }, p) =>
  db.insert(indexCommands).values({ eventWords: sql`'merge'`, rank: p.pages }),
);
