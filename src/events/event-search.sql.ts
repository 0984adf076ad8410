import { asc, type Column, eq, type Placeholder, type SQL, sql } from "drizzle-orm";

import { pagesOver } from "../db/keyset.ts";
import { searchesOver } from "../db/search.ts";
import { columnsOf, encoded, rowsAs, type Select, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";
import { hasKey } from "../event/event-keys.sql.ts";
import { eventColumns } from "../event/event.sql.ts";
import { type Event, eventsTable } from "../event/event.ts";
import { deliveriesTable } from "../outbound/model/delivery.ts";
import { numberOf } from "../outbound/model/destinations.sql.ts";
import { notificationsTable } from "../outbound/model/notification.ts";
import { hasSeverity, statusRank } from "../outbound/model/notifications.sql.ts";

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
    and ${deliveries.destination} = ${numberOf(sql.placeholder("destination"))} and ${and})`;
/** In lists that are no search, which has a word for it. */
const severity = ({ events, notifications }: Tables, least: Placeholder) =>
  sql`exists (select 1 from ${notifications} where ${notifications.event} = ${events.position}
    and ${hasSeverity(notifications.severity, least)})`;
/** The worst of the deliveries of the event at a position to the operators' destinations. Null without one. */
const worstOf = (position: Column) =>
  sql`(select max(${statusRank(sql`sent.status`)}) from deliveries sent where sent.event = ${position} and sent.owner_id is null)`;
/** Events without notifications are found by their word. */
const state = ({ events, notifications }: Tables, value: Placeholder) =>
  sql`coalesce(${worstOf(events.position)}, 0) = ${statusRank(value)} and exists (
    select 1 from ${notifications} where ${notifications.event} = ${events.position})`;
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
  conditions: { ...sentConditions, idempotencyKey: hasKey },
  uncommon: { filter: "status", common: "accepted" },
  indexed: ["idempotencyKey", "type", "provider"],
});

function sentColumns({ deliveries: { destination, status }, notifications }: Tables) {
  return { destination, outcome: status, severity: notifications.severity, state: status };
}

/**
 * How lists that are read from deliveries get the order of events: a delivery is as old as its notification, which has the
 * position of its event unless it was added later. Those added later are a list of their own, which is short.
 */
interface Half {
  readonly position: (t: Tables) => Column;
  readonly isIn: (t: Tables) => SQL;
}
const halves: readonly [Half, Half] = [
  {
    position: (t) => t.deliveries.notification,
    // None is earlier. PostgreSQL expects almost no rows of `=`, and would read and sort all of the destination.
    isIn: ({ deliveries: { event, notification } }) => sql`${notification} <= ${event}`,
  },
  {
    position: (t) => t.deliveries.event,
    isIn: ({ deliveries: { event, notification } }) => sql`${event} <> ${notification}`,
  },
];

const withEvent = <Row>(query: Select<Row>, { events, deliveries }: Tables) =>
  query.innerJoin(events, eq(events.position, deliveries.event));

/** In the order of deliveries of an event. */
const isEarlier = ({ deliveries: { event, notification, destination } }: Tables) =>
  sql`earlier.event = ${event} and (earlier.notification, earlier.destination) < (${notification}, ${destination})`;

/**
 * Events that were sent to a destination, by the index of its deliveries. An event with several deliveries there is
 * listed once, by the first of them. A list of one state considers only deliveries in that state.
 */
const sentPages = (isOfOneState: boolean) =>
  halves.map(({ position, isIn }) =>
    pagesOver(tables)<Event, EventColumn | SentFilter | "severity">({
      table: (t) => ({ ...columnsOf(t.events), ...sentColumns(t) }),
      position,
      select: (db, t, dialect) => db.select(eventColumns(t, dialect)).from(t.deliveries),
      join: withEvent,
      always: isIn,
      conditions: {
        severity,
        destination(t, id) {
          const { destination, status } = t.deliveries;
          const alike = isOfOneState ? sql` and earlier.status = ${status}` : sql``;
          // With the bare column, SQLite would read all earlier deliveries of the destination instead of those of the event.
          return sql`${destination} = ${numberOf(id)} and not exists (
            select 1 from deliveries earlier where ${isEarlier(t)} and +earlier.destination = ${destination}${alike})`;
        },
      },
      uncommon: { filter: "outcome", common: "delivered" },
      indexed: ["destination"],
    }),
  );
export const sentEventPages = sentPages(false);
export const eventPagesByOutcome = sentPages(true);

/**
 * Events with a delivery to the operators that is not delivered, by the index of these. One with several is listed once.
 * `open`: the status of the delivery; `state`: the same, so that no other one is worse.
 */
export const openEventPages = halves.map(({ position, isIn }) =>
  pagesOver(tables)<Event, EventColumn | StateFilter | "severity" | "open">({
    table: (t) => ({ ...columnsOf(t.events), ...sentColumns(t), open: t.deliveries.status }),
    position,
    select: (db, t, dialect) => db.select(eventColumns(t, dialect)).from(t.deliveries),
    join: withEvent,
    always: (t) => sql`${t.deliveries.ownerId} is null and ${isIn(t)}`,
    conditions: {
      severity,
      state: (t, value) =>
        sql`${worstOf(t.deliveries.event)} = ${statusRank(value)}
        and not exists (select 1 from deliveries earlier where ${isEarlier(t)}
          and earlier.owner_id is null and earlier.status = ${value})`,
    },
    uncommon: { filter: "open", common: "delivered" },
    indexed: ["open"],
  }),
);

/** Indexed events by their words. */
export const eventSearch = searchesOver(tables)<
  Event,
  EventColumn | SentFilter | FewFilter | StateFilter
>({
  index: (t) => t.eventWords,
  table: (t) => ({ ...columnsOf(t.events), ...sentColumns(t), few: t.deliveries.destination }),
  position: (t) => t.eventWords.rowid,
  conditions: {
    ...sentConditions,
    few({ eventWords, deliveries: { event, destination } }, id, { matchesByRowid }) {
      // With the bare column, SQLite would search for the words once for each position.
      const position = matchesByRowid ? sql`+${eventWords.rowid}` : eventWords.rowid;
      return sql`${position} in (select ${event} from ${event.table} where ${destination} = ${numberOf(id)})`;
    },
  },
  select: (db, t, dialect) => db.select(eventColumns(t, dialect)).from(t.eventWords),
  join: (query, t) => query.innerJoin(t.events, eq(t.events.position, t.eventWords.rowid)),
});

/** The delivery to a destination after so many others, in any order. */
export const deliveryAfter = statement<{ destination: string; count: number }>()(
  (db, { deliveries }, p) =>
    db
      .select({ notification: deliveries.notification })
      .from(deliveries)
      .where(sql`${deliveries.destination} = ${numberOf(p.destination)}`)
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
