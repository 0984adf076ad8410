import { and, asc, type Column, desc, gt, lte, type Placeholder, type SQL, sql } from "drizzle-orm";

import { firstPositionAt, placeIn, timeOfPosition } from "../base/ids.ts";
import { type Dialect, shownColumns, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";

import { type Event, eventFields, eventsTable } from "./event.ts";

const tables = { events: eventsTable };
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The public fields of an event. The others are its position and its receipt. */
export function eventColumns({ events }: Tables, dialect: Dialect) {
  return shownColumns(events, eventFields, {
    id: eventId({ events }, dialect),
    createdAt: createdAt(events.position),
  });
}

/** The id of an event, for a statement that reads or joins its row. */
export function eventId({ events }: Tables, dialect: Dialect) {
  return dialect.idOf("evt", events.position, events.tail);
}

/** The time of a position. */
export function createdAt(position: Column): SQL<Date> {
  return sql`${position}`.mapWith(timeOfPosition);
}

/** The first position at a time. */
export function firstPosition(at: Placeholder): SQL {
  // Guarantee: the values of a statement with a time are typed by it.
  return sql`${sql.param(at, { mapToDriverValue: (value: unknown) => firstPositionAt((value as Date).getTime()) })}`;
}

/** True for the event with an id. */
export function hasId({ events }: Tables, id: Placeholder): SQL | undefined {
  // Guarantee: the values of a statement with an id of an event are typed by it. No event has a negative position.
  const part = (name: "position" | "tail") =>
    sql.param(id, {
      mapToDriverValue: (value: unknown) => placeIn("evt", value as Event["id"])?.[name] ?? -1,
    });
  return and(sql`${events.position} = ${part("position")}`, sql`${events.tail} = ${part("tail")}`);
}

export const eventById = statement<Pick<Event, "id">>()((db, t, p, dialect) =>
  db.select(eventColumns(t, dialect)).from(t.events).where(hasId(t, p.id)).limit(1),
);

/** The next events in the order of commits. `until`: an earlier `newestPosition`, beyond which there may be gaps. */
export const eventsAfter = statement<{ seq: number; until: number; limit: number }>()(
  (db, t, p, dialect) =>
    db
      .select({ ...eventColumns(t, dialect), seq: t.events.position })
      .from(t.events)
      .where(and(gt(t.events.position, p.seq), lte(t.events.position, p.until)))
      .orderBy(asc(t.events.position))
      .limit(p.limit),
);

/** The position of the newest event. Returns no row if there are no events. */
export const newestPosition = statement()((db, { events }, _, dialect) =>
  db
    .select({ position: dialect.newestSettled(events.position) })
    .from(events)
    .limit(1),
);

/** The position of the newest event, which an open transaction may still precede. Returns no row if there are no events. */
export const newestStored = statement()((db, { events }) =>
  db.select({ position: events.position }).from(events).orderBy(desc(events.position)).limit(1),
);
