import { sql } from "drizzle-orm";

import { statementsOver } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import { eventsTable } from "../../src/event/event.ts";
import { eventStatesTable } from "../../src/events/event-index.ts";
import { indexEvents } from "../../src/events/index-batch.ts";

const notIndexedIds = statementsOver({ events: eventsTable, states: eventStatesTable })()(
  (db, { events, states }) =>
    db
      .select({ id: events.id })
      .from(events)
      .where(sql`${events.id} not in (select ${states.id} from ${states})`),
);

/** The ids of the events that a search does not find yet. */
export async function notIndexed(storage: Storage): Promise<readonly string[]> {
  return (await storage.all(notIndexedIds, {})).map(({ id }) => id);
}

/** Indexes at most `limit` new events, as the follower does. Returns whether it found any. */
export async function indexSome(storage: Storage, limit: number): Promise<boolean> {
  const queued = storage.dialect === "sqlite" ? 0 : limit;
  const { readUntil, seqs } = await indexEvents(storage, { unread: limit, toQueue: 0, queued });
  return readUntil > 0 || seqs.length > 0;
}
