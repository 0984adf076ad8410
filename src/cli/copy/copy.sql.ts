import { asc, desc, eq, type Placeholder, sql, type Table } from "drizzle-orm";

import { beyond, columnOf } from "../../db/columns.ts";
import { migrationsTable, unfinishedCopy } from "../../db/schema.ts";
import { allColumns, encoded, type Statement, statementsOver } from "../../db/statement.ts";
import { defineTable, type TableDefinition } from "../../db/table.ts";
import { notificationsTable } from "../../outbound/notification.ts";
import { tables } from "../../schema/schema.ts";

export type Row = Record<string, unknown>;

/** The approximate size of a row in memory. */
export interface Size {
  readonly bodyBytes: number;
}

/** Statements that read the first page, or the page after a row. */
export interface Pages<Found> {
  readonly first: Statement<Row, Found>;
  readonly after: Statement<Row, Found>;
}

/** The statements that copy one table. */
export interface CopyOfTable {
  readonly name: string;
  /** The fields that order and identify the rows. */
  readonly key: readonly string[];
  readonly pages: Pages<Row>;
  /** The sizes of a page's rows, for tables with rows too large for a full page. */
  readonly sizes: Pages<Size> | null;
  readonly last: Statement<Row, Row>;
  readonly insert: Statement<Row, never>;
}

type Name = keyof typeof tables;
type FieldOf<Definition> = Definition extends TableDefinition<infer Fields> ? keyof Fields : never;

const statement = statementsOver(tables);

/** Events may have large bodies, so their pages are smaller. */
const eventsPageSize = 50;

/** Attempts have no key and are copied with their notifications. The search index is built again. */
const copiesByName = {
  users: copyOf("users", ["id"]),
  clients: copyOf("clients", ["id"]),
  flights: copyOf("flights", ["id"]),
  bookings: copyOf("bookings", ["id"]),
  passengers: copyOf("passengers", ["bookingId", "position"]),
  flightEvents: copyOf("flightEvents", ["eventId"]),
  bookingChanges: copyOf("bookingChanges", ["id"]),
  payments: copyOf("payments", ["eventId"]),
  waitingNotices: copyOf("waitingNotices", ["eventId"]),
  paymentSearches: copyOf("paymentSearches", ["provider", "source"]),
  disclosures: copyOf("disclosures", ["id"]),
  idempotency: copyOf("idempotency", ["scope", "key"]),
  events: copyOf("events", ["id"]),
  notifications: copyOf("notifications", ["seq"]),
  audit: copyOf("audit", ["id"]),
  sessions: copyOf("sessions", ["id"]),
  mutes: copyOf("mutes", ["issueId"]),
  destinations: copyOf("destinations", ["id"]),
  deliveries: copyOf("deliveries", ["seq"]),
  rejections: copyOf("rejections", ["id"]),
  webhookCounts: copyOf("webhookCounts", ["spanMinutes", "provider", "minute", "verdict"]),
  secretUses: copyOf("secretUses", ["provider", "secret"]),
  reconciliations: copyOf("reconciliations", ["provider"]),
  replays: copyOf("replays", ["id"]),
  erasures: copyOf("erasures", ["id"]),
  replayFailures: copyOf("replayFailures", ["replayId", "id"]),
} satisfies Record<Exclude<Name, "attempts" | "searchQueue" | "eventStates">, CopyOfTable>;

/** All tables, in the order of copying. */
export const copies: readonly CopyOfTable[] = Object.values(copiesByName);

function copyOf<Of extends Name>(
  name: Of,
  key: readonly (FieldOf<(typeof tables)[Of]> & string)[],
): CopyOfTable {
  return {
    name,
    key,
    pages: {
      first: rowsOf(name, key, "first", asc, sql.placeholder("limit")),
      after: rowsOf(name, key, "after", asc, sql.placeholder("limit")),
    },
    sizes:
      name === "events" ? { first: sizesOf(key, "first"), after: sizesOf(key, "after") } : null,
    last: rowsOf(name, key, "first", desc, 1),
    insert: statement<Row>()((db, of) => {
      const table: Table = of[name];
      return db.insert(table).values(allColumns(table)).onConflictDoNothing();
    }),
  };
}

type Start = keyof Pages<unknown>;

function rowsOf(
  name: Name,
  key: readonly string[],
  start: Start,
  order: typeof asc,
  limit: number | Placeholder,
): Statement<Row, Row> {
  return statement<Row>()((db, of) => {
    const table: Table = of[name];
    const fields = key.map((field) => columnOf(table, field));
    return db
      .select()
      .from(table)
      .where(start === "after" ? beyond(fields, key) : undefined)
      .orderBy(...fields.map((field) => order(field)))
      .limit(limit);
  });
}

function sizesOf(key: readonly string[], start: Start): Statement<Row, Size> {
  return statement<Row>()((db, { events }) => {
    const fields = key.map((field) => columnOf(events, field));
    return db
      .select({
        // Another item of its delivery has the body.
        bodyBytes: sql<number>`case when ${events.bodyOf} is null then ${events.bodyBytes} else 0 end`,
      })
      .from(events)
      .where(start === "after" ? beyond(fields, key) : undefined)
      .orderBy(...fields.map((field) => asc(field)))
      .limit(eventsPageSize);
  });
}

interface OfNotifications {
  readonly ids: readonly string[];
}

export const attemptsOfMany = statement<OfNotifications>()((db, { attempts }, p, dialect) =>
  db
    .select()
    .from(attempts)
    .where(dialect.among(attempts.notificationId, p.ids))
    .orderBy(asc(attempts.notificationId), asc(attempts.startedAt), asc(attempts.durationMs)),
);

export const deleteAttemptsOfMany = statement<OfNotifications>()((db, { attempts }, p, dialect) =>
  db.delete(attempts).where(dialect.among(attempts.notificationId, p.ids)),
);

const ofMigrations = statementsOver({ migrations: migrationsTable });

export const unfinishedMark = ofMigrations()((db, { migrations }) =>
  db.select().from(migrations).where(eq(migrations.name, unfinishedCopy)),
);

/** Until the mark is removed, only a copy can open the database. */
export const markUnfinished = ofMigrations()((db, { migrations }) =>
  db.insert(migrations).values({ name: unfinishedCopy }).onConflictDoNothing(),
);

export const unmarkUnfinished = ofMigrations()((db, { migrations }) =>
  db.delete(migrations).where(eq(migrations.name, unfinishedCopy)),
);

/** SQLite's table of the last number of each table with AUTOINCREMENT. */
const ofCounters = statementsOver({
  counters: defineTable("sqlite_sequence", {
    name: "text",
    seq: "bigint",
  }),
});

export const lastCounted = ofCounters()((db, { counters }) =>
  db.select({ seq: counters.seq }).from(counters).where(eq(counters.name, notificationsTable.name)),
);

export const forgetCounted = ofCounters()((db, { counters }) =>
  db.delete(counters).where(eq(counters.name, notificationsTable.name)),
);

export const setCounted = ofCounters<{ seq: number }>()((db, { counters }, p) =>
  db.insert(counters).values({ name: notificationsTable.name, seq: p.seq }),
);

/** A PostgreSQL sequence can be read as a table of one row. */
const sequence = (name: string) => defineTable(name, { lastValue: "bigint", isCalled: "boolean" });
const ofSequences = statementsOver({
  seqs: sequence("notifications_seq"),
  flightIds: sequence("flights_id"),
  flights: tables.flights,
  deliverySeqs: sequence("deliveries_seq"),
  deliveries: tables.deliveries,
  eventSeqs: sequence("events_seq"),
  events: tables.events,
});

const lastOf = (name: "seqs" | "eventSeqs") =>
  ofSequences()((db, of) => {
    const { lastValue, isCalled } = of[name];
    const seq = sql<number>`${lastValue} - case when ${isCalled} then 0 else 1 end`;
    return db.select({ seq: seq.mapWith(Number) }).from(of[name]);
  });

export const lastOfSequence = lastOf("seqs");

/** The last number of an event, including deleted ones. Only on PostgreSQL. */
export const lastEventNumber = lastOf("eventSeqs");

export const setSequence = ofSequences<{ seq: number }>()((db, { seqs }, p) =>
  db
    .select({ set: sql`setval('notifications_seq', ${encoded(p.seq, seqs.lastValue)} + 1, false)` })
    .from(seqs),
);

/** Only on PostgreSQL: SQLite continues after the highest flight id by itself. */
export const setFlightIds = ofSequences()((db, { flightIds, flights }) =>
  db
    .select({
      set: sql`setval('flights_id', (select coalesce(max(${flights.id}), 0) + 1 from ${flights}), false)`,
    })
    .from(flightIds),
);

/** Only on PostgreSQL: SQLite continues after the highest number by itself. */
export const setDeliverySeqs = ofSequences()((db, { deliverySeqs, deliveries }) =>
  db
    .select({
      set: sql`setval('deliveries_seq', (select coalesce(max(${deliveries.seq}), 0) + 1 from ${deliveries}), false)`,
    })
    .from(deliverySeqs),
);

/** Continues after the events of the table, and after `seq`. Only on PostgreSQL: SQLite continues by itself. */
export const setEventSeqs = ofSequences<{ seq: number }>()((db, { eventSeqs, events }, p) =>
  db
    .select({
      set: sql`setval('events_seq', greatest((select max(${events.seq}) from ${events}), ${encoded(p.seq, eventSeqs.lastValue)}) + 1, false)`,
    })
    .from(eventSeqs),
);
