import { ownTurns } from "../base/own-turn.ts";
import { write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import { newestPosition } from "../event/event.sql.ts";

import { asText, asVector, indexedWords } from "./indexed-words.ts";
import {
  changedEvents,
  deleteWords,
  eventsToIndex,
  insertWords,
  lastIndexed,
  mergeSegments,
  setUpToDate,
  type WordsOfEvent,
} from "./search-index.sql.ts";

/** The most new events of a batch: more cost less per event, but make deliveries wait longer. */
const batchSize = 500;
/** Events whose words are made without a pause for requests. */
const eventsPerTurn = 50;
const ownTurn = ownTurns();
/** Pages of the index that a batch merges: a few milliseconds, and enough to keep up with the batches. */
const mergedPages = 16;

export interface IndexedBatch {
  /** The position of the last indexed event. */
  readonly until: number;
  /** Whether more events may wait. */
  readonly hasMore: boolean;
}

/** The position of the last indexed event. */
export async function indexedUntil(storage: Storage): Promise<number> {
  const [last] = await storage.all(lastIndexed, {});
  return last?.position ?? 0;
}

/** Indexes the next events, and those that changed since they were indexed, in one transaction. */
export async function indexEvents(storage: Storage): Promise<IndexedBatch> {
  const after = await indexedUntil(storage);
  const [newest] = await storage.all(newestPosition, {});
  const until = newest?.position ?? 0;
  const changed = await storage.all(changedEvents, { until: after, limit: batchSize });
  const unread = await storage.all(eventsToIndex, { after, until, limit: batchSize });
  // SQLite makes its own index of the words, PostgreSQL is given one.
  const asStored = storage.dialect === "sqlite" ? asText : asVector;
  const rows: WordsOfEvent[] = [];
  for (const [index, event] of [...changed, ...unread].entries()) {
    if (index % eventsPerTurn === eventsPerTurn - 1) await ownTurn();
    const { position, changes } = event;
    rows.push({ position, changes, words: asStored(indexedWords(event)) });
  }
  if (rows.length > 0) {
    const again = rows.slice(0, changed.length);
    await storage.atomically(
      ...(again.length > 0 ? [write(deleteWords, { rows: again })] : []),
      write(insertWords, { rows }),
      ...(again.length > 0 ? [write(setUpToDate, { rows: again })] : []),
      ...(storage.dialect === "sqlite" ? [write(mergeSegments, { pages: mergedPages })] : []),
    );
  }
  return {
    until: unread.at(-1)?.position ?? after,
    hasMore: changed.length === batchSize || unread.length === batchSize,
  };
}
