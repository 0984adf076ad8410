import { asc, desc, eq, type Placeholder, sql, type Table } from "drizzle-orm";

import { columnOf, isAfterRow } from "../../db/columns.ts";
import { migrationsTable, unfinishedCopy } from "../../db/schema.ts";
import { allColumns, encoded, type Statement, statementsOver } from "../../db/statement.ts";
import { defineTable } from "../../db/table.ts";
import { insertedOnce } from "../../event/event-keys.sql.ts";
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

const statement = statementsOver(tables);

/** Events may have large bodies, so their pages are smaller. */
const eventsPageSize = 50;

// Guarantee: these are the keys of the object.
const names = Object.keys(tables) as Name[];

/** All tables, in the order of copying. Attempts have no key and are copied with their notifications. The search index is built again. */
export const copies: readonly CopyOfTable[] = names
  .filter((name) => tables[name].key.length > 0)
  .map(copyOf);

function copyOf(name: Name): CopyOfTable {
  const { key } = tables[name];
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
    insert: statement<Row>()((db, of, _, dialect) => {
      const table: Table = of[name];
      const row = allColumns(table);
      return name === "events"
        ? insertedOnce(db, of.events, row, dialect)
        : db.insert(table).values(row).onConflictDoNothing();
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
      .where(start === "after" ? isAfterRow(fields, key) : undefined)
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
      .where(start === "after" ? isAfterRow(fields, key) : undefined)
      .orderBy(...fields.map((field) => asc(field)))
      .limit(eventsPageSize);
  });
}

interface OfNotifications {
  readonly positions: readonly number[];
}

export const attemptsOfMany = statement<OfNotifications>()(
  (db, { failedAttempts: failed }, p, dialect) =>
    db
      .select()
      .from(failed)
      .where(dialect.among(failed.notification, p.positions))
      .orderBy(asc(failed.notification), asc(failed.startedAt), asc(failed.durationMs)),
);

export const deleteAttemptsOfMany = statement<OfNotifications>()(
  (db, { failedAttempts: failed }, p, dialect) =>
    db.delete(failed).where(dialect.among(failed.notification, p.positions)),
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

/** A PostgreSQL sequence can be read as a table of one row. */
const sequence = (name: string) => defineTable(name, { lastValue: "bigint" });
const ofSequences = statementsOver({
  positions: sequence("events_position"),
  flightIds: sequence("flights_id"),
  flights: tables.flights,
  destinationNumbers: sequence("destinations_number"),
  destinations: tables.destinations,
  events: tables.events,
  notifications: tables.notifications,
});

/** The last position that was assigned, also to what is deleted. Only on PostgreSQL. */
export const lastPosition = ofSequences()((db, { positions }) =>
  db.select({ last: positions.lastValue }).from(positions),
);

/** Continues after the rows of the tables, and after `last`. Only on PostgreSQL: SQLite continues by itself. */
export const setPositions = ofSequences<{ last: number }>()(
  (db, { positions, events, notifications }, p) =>
    db
      .select({
        set: sql`setval('events_position', greatest((select max(${events.position}) from ${events}), (select max(${notifications.position}) from ${notifications}), ${encoded(p.last, positions.lastValue)}))`,
      })
      .from(positions),
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
export const setDestinationNumbers = ofSequences()((db, { destinationNumbers, destinations }) =>
  db
    .select({
      set: sql`setval('destinations_number', (select coalesce(max(${destinations.number}), 0) + 1 from ${destinations}), false)`,
    })
    .from(destinationNumbers),
);
