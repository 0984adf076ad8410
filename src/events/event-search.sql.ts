import { asc, eq, type Placeholder, type SQL, sql } from "drizzle-orm";

import { pagesOver } from "../db/keyset.ts";
import { searchesOver } from "../db/search.ts";
import { columnsOf, encoded, rowsAs, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";
import { eventColumns } from "../event/event.sql.ts";
import { type Event, eventsTable } from "../event/event.ts";
import { deliveriesTable } from "../outbound/delivery.ts";
import { notificationsTable } from "../outbound/notification.ts";
import { hasSeverity, statusRank } from "../outbound/notifications.sql.ts";

import type { EventColumn } from "./event-filters.ts";
import { eventVocabularyTable, eventWordsTable } from "./event-index.ts";

const tables = {
  events: eventsTable,
  deliveries: deliveriesTable,
  notifications: notificationsTable,
  eventWords: eventWordsTable,
  eventVocabulary: eventVocabularyTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** `destination`: the id of one that the event was sent to. `outcome`: the state of a delivery there. */
type SentFilter = "destination" | "outcome";
/** The id of a destination with few deliveries, in addition to `destination`: a search then reads no other events. */
type FewFilter = "few";
/** What became of the event: see `deliveryStateOf`. */
type StateFilter = "state";

const exists = ({ events, deliveries }: Tables, and: SQL) =>
  sql`exists (select 1 from ${deliveries} where ${deliveries.event} = ${events.position}
    and ${deliveries.destinationId} = ${sql.placeholder("destination")} and ${and})`;
/** In lists that are no search, which has a word for it. */
const severity = ({ events, notifications }: Tables, least: Placeholder) =>
  sql`exists (select 1 from ${notifications} where ${notifications.event} = ${events.position}
    and ${hasSeverity(notifications.severity, least)})`;
/** Events without notifications are found by their word. */
const state = ({ events }: Tables, value: Placeholder) =>
  sql`(select sent.status from notifications sent where sent.event = ${events.position}
    order by ${statusRank(sql`sent.status`)} desc limit 1) = ${value}`;
/** In lists that are read from the events: each has few deliveries, which are found by its position. */
const sentConditions = {
  severity,
  state,
  destination: (t: Tables) => exists(t, sql`true`),
  outcome: (t: Tables, status: Placeholder) => exists(t, sql`${t.deliveries.status} = ${status}`),
};
type Conditional = SentFilter | StateFilter | "severity";

/** Events by their columns. */
export const eventPages = pagesOver(tables)<Event, EventColumn | Conditional>({
  table: (t) => ({ ...columnsOf(t.events), ...sentColumns(t) }),
  position: (t) => t.events.position,
  select: (db, t, dialect) => db.select(eventColumns(t, dialect)).from(t.events),
  conditions: sentConditions,
  uncommon: { filter: "status", common: "accepted" },
  indexed: ["idempotencyKey", "type", "provider"],
});

function sentColumns({ deliveries, notifications }: Tables) {
  return {
    destination: deliveries.destinationId,
    outcome: deliveries.status,
    severity: notifications.severity,
    state: notifications.status,
  };
}

/**
 * Events that were sent to a destination, by the index of its deliveries. An event with several deliveries there is
 * listed once, by the first of them. A list of one state considers only deliveries in that state.
 */
const sentPages = (isOfOneState: boolean) =>
  pagesOver(tables)<Event, EventColumn | SentFilter | "severity">({
    table: (t) => ({ ...columnsOf(t.events), ...sentColumns(t) }),
    position: (t) => t.deliveries.event,
    select: (db, t, dialect) => db.select(eventColumns(t, dialect)).from(t.deliveries),
    join: (query, t) => query.innerJoin(t.events, eq(t.events.position, t.deliveries.event)),
    conditions: {
      severity,
      destination: ({ deliveries: { destinationId, event, status, seq } }, value) =>
        sql`${destinationId} = ${value} and not exists (select 1 from deliveries earlier
          where earlier.destination_id = ${value} and earlier.event = ${event}
          and earlier.seq < ${seq}${isOfOneState ? sql` and earlier.status = ${status}` : sql``})`,
    },
    uncommon: { filter: "outcome", common: "delivered" },
    indexed: ["destination"],
  });
export const sentEventPages = sentPages(false);
export const eventPagesByOutcome = sentPages(true);

/**
 * Events with a notification that is not delivered, by the index of these. One with several is listed once. `open`: the
 * status of the notification; `state`: the same, so that no other one is worse.
 */
export const openEventPages = pagesOver(tables)<
  Event,
  EventColumn | StateFilter | "severity" | "open"
>({
  table: (t) => ({ ...columnsOf(t.events), ...sentColumns(t), open: t.notifications.status }),
  position: (t) => t.notifications.event,
  select: (db, t, dialect) => db.select(eventColumns(t, dialect)).from(t.notifications),
  join: (query, t) => query.innerJoin(t.events, eq(t.events.position, t.notifications.event)),
  conditions: {
    severity: ({ notifications: { event } }, least) =>
      sql`exists (select 1 from notifications sent where sent.event = ${event} and ${hasSeverity(sql`sent.severity`, least)})`,
    state: (t, value) =>
      sql`${state(t, value)} and not exists (select 1 from notifications earlier where earlier.event = ${t.notifications.event}
        and earlier.status = ${value} and earlier.position < ${t.notifications.position})`,
  },
  uncommon: { filter: "open", common: "delivered" },
  indexed: ["open"],
});

/** Indexed events by their words. */
export const eventSearch = searchesOver(tables)<
  Event,
  EventColumn | SentFilter | FewFilter | StateFilter
>({
  index: (t) => t.eventWords,
  table: (t) => ({ ...columnsOf(t.events), ...sentColumns(t), few: t.deliveries.destinationId }),
  position: (t) => t.eventWords.rowid,
  conditions: {
    ...sentConditions,
    few({ eventWords, deliveries: { event, destinationId } }, value, { matchesByRowid }) {
      // With the bare column, SQLite would search for the words once for each position.
      const position = matchesByRowid ? sql`+${eventWords.rowid}` : eventWords.rowid;
      return sql`${position} in (select ${event} from ${event.table} where ${destinationId} = ${value})`;
    },
  },
  select: (db, t, dialect) => db.select(eventColumns(t, dialect)).from(t.eventWords),
  join: (query, t) => query.innerJoin(t.events, eq(t.events.position, t.eventWords.rowid)),
});

/** The delivery to a destination after so many others, in any order. */
export const deliveryAfter = statement<{ destination: string; count: number }>()(
  (db, { deliveries }, p) =>
    db
      .select({ seq: deliveries.seq })
      .from(deliveries)
      .where(sql`${deliveries.destinationId} = ${p.destination}`)
      .limit(1)
      .offset(p.count),
);

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

/**
 * The first words of the index from one, inclusive, up to another, inclusive, in their order. Skips from each word to the
 * next, because the table has a row for each place of a word. No word is between one and the same with a control
 * character; `>` would read all places of the word.
 */
export const wordsBetween = statement<{ from: string; until: string; limit: number }>()((
  db,
  { eventVocabulary: { term }, eventVocabulary },
  p,
) => {
  const first = (isNext: SQL) =>
    sql`(select ${term} from ${eventVocabulary} where ${isNext} and ${term} <= ${p.until} limit 1)`;
  const words = sql`with recursive words(term) as (
        select ${first(sql`${term} >= ${p.from}`)} union all
        select ${first(sql`${term} >= words.term || char(1)`)} from words where words.term is not null limit ${p.limit})
      select term from words where term is not null`;
  return db.select({ term }).from(rowsAs(eventVocabulary, words));
});

/** The event after so many others, in any order. Reads an index, whose entries are small. */
export const eventAfter = statement<{ count: number }>()((db, { events: { type } }, p) =>
  db.select({ type }).from(type.table).orderBy(asc(type)).limit(1).offset(p.count),
);
