import { eq } from "drizzle-orm";

import { columnsExcept, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";

import { type Event, eventsTable, noReceipt } from "./event.ts";

const tables = { events: eventsTable };
const statement = statementsOver(tables);

/** The public columns of an event. The other columns belong to its receipt. */
export function eventColumns({ events }: TablesOf<typeof tables>) {
  return columnsExcept(events, noReceipt) satisfies Record<keyof Event, unknown>;
}

export const eventById = statement<Pick<Event, "id">>()((db, t, p) =>
  db.select(eventColumns(t)).from(t.events).where(eq(t.events.id, p.id)).limit(1),
);

/** The stored headers of an event, including its trace context. */
export const headersOf = statement<Pick<Event, "id">>()((db, { events }, p) =>
  db.select({ headers: events.headers }).from(events).where(eq(events.id, p.id)).limit(1),
);
