import { and, asc, desc, sql } from "drizzle-orm";

import { rowsAs, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";
import { type Event, eventsTable } from "../event/event.ts";
import { notificationsTable } from "../outbound/notification.ts";
import { rankOf } from "../outbound/notifications.sql.ts";

import {
  eventStatesTable,
  eventWordsTable,
  indexCommandsTable,
  searchProgressTable,
  searchQueueTable,
} from "./event-index.ts";

const tables = {
  events: eventsTable,
  notifications: notificationsTable,
  eventStates: eventStatesTable,
  eventWords: eventWordsTable,
  indexCommands: indexCommandsTable,
  searchProgress: searchProgressTable,
  searchQueue: searchQueueTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

const unread = ({ events, searchProgress }: Tables) =>
  sql`${events.seq} > (select ${searchProgress.seq} from ${searchProgress})`;

/** The next events in the order of commits, at most `limit`. */
export const nextUnread = statement<{ limit: number }>()((db, t, p) =>
  db
    .select({ seq: t.events.seq, id: t.events.id })
    .from(t.events)
    .where(unread(t))
    .orderBy(asc(t.events.seq))
    .limit(p.limit),
);

const progress = (t: Tables) => ({
  seq: t.searchProgress.seq,
  hasUnread: sql`exists (select 1 from ${t.events} where ${unread(t)})`.mapWith(Boolean),
});

/**
 * Makes the states of these events, which must be the next ones. Returns no row if another event has come between them:
 * when the newest are deleted, new ones can have their numbers.
 */
export const indexNext = statement<{ ids: readonly Event["id"][]; until: number }>()((
  db,
  t,
  p,
  dialect,
) => {
  const next = sql`from ${t.events} where ${unread(t)} and ${t.events.seq} <= ${p.until}`;
  return db
    .update(t.searchProgress)
    .set({ seq: sql`(select max(${t.events.seq}) ${next})`, step: "index" })
    .where(
      sql`exists (select 1 ${next}) and not exists (select 1 ${next} and not ${dialect.among(t.events.id, p.ids)})`,
    )
    .returning(progress(t));
});

/** Queues the next events, at most `limit`. Returns no row if there are none. */
export const queueNext = statement<{ limit: number }>()((db, t, p) => {
  const next = sql`select ${t.events.seq} from ${t.events} where ${unread(t)} order by ${t.events.seq} limit ${p.limit}`;
  return db
    .update(t.searchProgress)
    .set({ seq: sql`(select max(seq) from (${next}))`, step: "queue" })
    .where(sql`exists (select 1 from ${t.events} where ${unread(t)})`)
    .returning(progress(t));
});

/** The newest event that is neither indexed nor queued, if there is one. `skip`: so many newer ones. */
export const newestUnread = statement<{ skip: number }>()((db, t, p) =>
  db
    .select({ seq: t.events.seq })
    .from(t.events)
    .where(unread(t))
    .orderBy(desc(t.events.seq))
    .limit(1)
    .offset(p.skip),
);

/** Merges about so many pages of segments, if there are enough segments. */
export const mergeSegments = statement<{ pages: number }>()((db, { indexCommands }, p) =>
  db.insert(indexCommands).values({ eventWords: sql`'merge'`, rank: p.pages }),
);

/** The events that were queued last, at most `limit`. */
export const nextQueued = statement<{ limit: number }>()((db, { searchQueue }, p) =>
  db
    .select({ seq: searchQueue.seq, id: searchQueue.eventId })
    .from(searchQueue)
    .orderBy(desc(searchQueue.seq))
    .limit(p.limit),
);

/** What the index has of these events. `severityRank`: that of the most severe notification. `version`: that of the row. */
export const eventsToIndex = statement<{ ids: readonly Event["id"][] }>()((
  db,
  { events, notifications },
  p,
  dialect,
) => {
  const { id, provider, type, status, title, actor, subject, data } = events;
  const version = dialect.rowVersion(events);
  const severityRank = sql<number | null>`(select max(${rankOf(sql`${notifications.severity}`)})
      from ${notifications} where ${notifications}.event_id = ${events}.id)`;
  return db
    .select({ id, provider, type, status, title, actor, subject, data, severityRank, version })
    .from(dialect.lookedUp(id, p.ids));
});

/** The words of an event, as the database stores them. */
export interface WordsOfEvent {
  readonly id: Event["id"];
  readonly words: string;
}

/** On SQLite: makes the states of queued events, and deletes them from the queue. */
export const unqueue = statement<{ seqs: readonly number[] }>()((db, { searchQueue }, p, dialect) =>
  db
    .delete(searchQueue)
    .where(dialect.among(searchQueue.seq, p.seqs))
    .returning({ seq: searchQueue.seq }),
);

/** On SQLite. */
export const deleteWords = statement<{ ids: readonly Event["id"][] }>()(
  (db, { eventWords, eventStates }, p, dialect) =>
    db
      .delete(eventWords)
      .where(
        sql`${eventWords.rowid} in (select ${eventStates.position} from ${eventStates} where ${dialect.among(eventStates.id, p.ids)})`,
      ),
);

/** On SQLite: the events must have states, but no words. */
export const insertWords = statement<{ rows: readonly WordsOfEvent[] }>()((
  db,
  { eventWords, eventStates },
  p,
  dialect,
) => {
  const given = dialect.rows(p.rows, { id: eventStates.id, words: eventWords.words }, "given");
  return db
    .insert(eventWords)
    .select(
      sql`select ${eventStates.position}, given.words from ${given} join ${eventStates} on ${eventStates.id} = given.id`,
    );
});

/** On PostgreSQL: indexes queued events, of which `given` is a list as JSON, and returns those it could lock. */
export const indexQueued = statement<{ given: string }>()((db, { searchQueue }, p) =>
  db
    .select({ seq: searchQueue.seq })
    .from(rowsAs(searchQueue, sql`select seq from index_queued(${p.given}::text::json) as seq`)),
);

/** The event that was queued first, if one is queued. */
export const oldestQueued = statement()((db, { searchQueue }) =>
  db.select({ seq: searchQueue.seq }).from(searchQueue).orderBy(asc(searchQueue.seq)).limit(1),
);

/** The event that was queued last. */
export const newestQueued = statement()((db, { searchQueue }) =>
  db.select({ seq: searchQueue.seq }).from(searchQueue).orderBy(desc(searchQueue.seq)).limit(1),
);

/** How many events are queued. */
export const queuedCount = statement()((db, { searchQueue }) =>
  db.select({ count: sql<number>`count(*)`.mapWith(Number) }).from(searchQueue),
);

/** Those of these events that exist, but are not indexed yet. */
export const notIndexedOf = statement<{ ids: readonly Event["id"][] }>()(
  (db, { events, eventStates }, p, dialect) =>
    db
      .select({ id: events.id })
      .from(events)
      .where(
        and(
          dialect.among(events.id, p.ids),
          sql`not exists (select 1 from ${eventStates} where ${eventStates.id} = ${events.id})`,
        ),
      ),
);
