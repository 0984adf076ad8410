import { and, asc, eq, gt, gte, lte } from "drizzle-orm";

import { encoded, shownColumns, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";

import { type Event, eventFields, eventsTable } from "./event.ts";

const tables = { events: eventsTable };
const statement = statementsOver(tables);

/** The public columns of an event. The others are its position and its receipt. */
export function eventColumns({ events }: TablesOf<typeof tables>) {
  return shownColumns(events, eventFields);
}

export const eventById = statement<Pick<Event, "id">>()((db, t, p) =>
  db.select(eventColumns(t)).from(t.events).where(eq(t.events.id, p.id)).limit(1),
);

/** The next events in the order of commits. `until`: an earlier `newestEventSeq`, beyond which there may be gaps. */
export const eventsAfter = statement<{ seq: number; until: number; limit: number }>()((db, t, p) =>
  db
    .select({ ...eventColumns(t), seq: t.events.seq })
    .from(t.events)
    .where(and(gt(t.events.seq, p.seq), lte(t.events.seq, p.until)))
    .orderBy(asc(t.events.seq))
    .limit(p.limit),
);

/** The position of the newest event. Returns no row if there are no events. */
export const newestEventSeq = statement()((db, { events }, _, dialect) =>
  db
    .select({ seq: dialect.newestSettled(events.seq) })
    .from(events)
    .limit(1),
);

/** The positions of the first events received at `since` or later. */
export const seqsSince = statement<{ since: Date; limit: number }>()((db, { events }, p) =>
  db
    .select({ seq: events.seq })
    .from(events)
    .where(gte(events.createdAt, encoded(p.since, events.createdAt)))
    .orderBy(asc(events.createdAt), asc(events.id))
    .limit(p.limit),
);
