import { and, asc, desc, eq, gte, lte, sql } from "drizzle-orm";

import { pagesOver } from "../db/keyset.ts";
import { searchesOver } from "../db/search.ts";
import { columnsExcept, encoded, type Select, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";
import { eventColumns } from "../event/event.sql.ts";
import { type Event, eventsTable } from "../event/event.ts";

import type { EventColumn } from "./event-filters.ts";
import {
  eventStatesTable,
  eventVocabularyTable,
  eventWordsTable,
  searchQueueTable,
} from "./event-index.ts";

const tables = {
  events: eventsTable,
  eventStates: eventStatesTable,
  eventWords: eventWordsTable,
  eventVocabulary: eventVocabularyTable,
  searchQueue: searchQueueTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** Events by their columns. */
export const eventPages = pagesOver(tables)<Event, EventColumn>({
  table: (t) => t.events,
  select: (db, t) => db.select(eventColumns(t)).from(t.events),
  uncommon: { filter: "status", common: "accepted" },
  indexed: ["idempotencyKey", "type", "provider"],
});

/** Indexed events by the state of their deliveries. */
export const eventStatePages = pagesOver(tables)<Event, EventColumn | "delivery">({
  table: (t) => {
    const { createdAt, id, delivery } = t.eventStates;
    return { ...columnsExcept(t.events, {}), createdAt, id, delivery };
  },
  select: (db, t) => db.select(eventColumns(t)).from(t.eventStates),
  join: (query, t) => query.innerJoin(t.events, eq(t.events.id, t.eventStates.id)),
  indexed: ["delivery"],
});

/** Indexed events by their words. */
export const eventSearch = searchesOver(tables)<Event, EventColumn | "delivery">({
  index: (t) => t.eventWords,
  positions: (t) => t.eventStates.position,
  table: (t) => ({ ...columnsExcept(t.events, {}), delivery: t.eventStates.delivery }),
  select: (db, t) => db.select(eventColumns(t)).from(t.eventWords),
  join: <Row>(query: Select<Row>, t: Tables) =>
    query
      .innerJoin(t.eventStates, eq(t.eventStates.position, t.eventWords.rowid))
      .innerJoin(t.events, eq(t.events.id, t.eventStates.id)),
});

/** The first type from one, inclusive, up to another, exclusive. */
export const nextType = statement<{ from: string; until: string }>()((db, { events }, p) =>
  db
    .select({ type: events.type })
    .from(events)
    .where(
      sql`${events.type} >= ${encoded(p.from, events.type)} and ${events.type} < ${encoded(p.until, events.type)}`,
    )
    .orderBy(asc(events.type))
    .limit(1),
);

/** Indexes at most `limit` queued events, newest first: the database indexes those whose rows are deleted. */
export const indexQueued = statement<{ limit: number }>()((db, { searchQueue }, p, dialect) =>
  db
    .delete(searchQueue)
    .where(
      dialect.amongUnlocked(
        searchQueue.seq,
        sql`select ${searchQueue.seq} from ${searchQueue} order by ${searchQueue.seq} desc limit ${p.limit}`,
      ),
    )
    .returning({ seq: searchQueue.seq }),
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

/** The first word of the index from one, inclusive, up to another, inclusive. */
export const nextWord = statement<{ from: string; until: string }>()((db, t, p) =>
  db
    .select({ term: t.eventVocabulary.term })
    .from(t.eventVocabulary)
    .where(and(gte(t.eventVocabulary.term, p.from), lte(t.eventVocabulary.term, p.until)))
    .limit(1),
);

/** The row after so many indexed events, in any order. */
export const stateAfter = statement<{ count: number }>()((db, { eventStates }, p) =>
  db.select({ id: eventStates.id }).from(eventStates).limit(1).offset(p.count),
);
