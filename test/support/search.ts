import { sql } from "drizzle-orm";

import { statementsOver } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import { eventId } from "../../src/event/event.sql.ts";
import { eventsTable } from "../../src/event/event.ts";
import { eventWordsTable } from "../../src/events/event-index.ts";

const notIndexedIds = statementsOver({ events: eventsTable, words: eventWordsTable })()(
  (db, t, _, dialect) =>
    db
      .select({ id: eventId(t, dialect) })
      .from(t.events)
      .where(
        sql`${t.events.position} not in (select rowid from ${t.words}) or ${t.events.changes} > 0`,
      ),
);

const indexedPositions = statementsOver({ words: eventWordsTable })()((db, { words }) =>
  db.select({ position: words.rowid }).from(words),
);

/** The positions whose words are in the index, also of events that do not exist. */
export async function indexed(storage: Storage): Promise<readonly number[]> {
  return (await storage.all(indexedPositions, {})).map(({ position }) => Number(position));
}

/** The ids of the events that a search does not find yet. */
export async function notIndexed(storage: Storage): Promise<readonly string[]> {
  return (await storage.all(notIndexedIds, {})).map(({ id }) => id);
}
