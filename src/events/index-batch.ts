import { write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import type { Event } from "../event/event.ts";

import { asVector, indexedWords } from "./indexed-words.ts";
import {
  deleteWords,
  eventsToIndex,
  indexNext,
  indexQueued,
  insertWords,
  mergeSegments,
  nextQueued,
  nextUnread,
  queueNext,
  unqueue,
} from "./search-index.sql.ts";

/** How many events of a batch come from each source. */
export interface BatchSizes {
  /** New events that are indexed, in the order of their commits; none on PostgreSQL, which queues them. */
  readonly unread: number;
  /** New events that are only queued. */
  readonly toQueue: number;
  readonly queued: number;
}

export interface IndexedBatch {
  /** The number of the last event that was read; 0 if none was. */
  readonly readUntil: number;
  /** Whether events are waiting that are not read yet. */
  readonly hasUnread: boolean;
  /** The numbers of the indexed events in the queue. */
  readonly seqs: readonly number[];
}

/** Pages of the index that a batch merges: a few milliseconds, and enough to keep up with the batches. */
const mergedPages = 16;

/** Indexes new and queued events in one transaction. What changes meanwhile is queued again by the database. */
export async function indexEvents(storage: Storage, sizes: BatchSizes): Promise<IndexedBatch> {
  const queued = await storage.all(nextQueued, { limit: sizes.queued });
  if (storage.dialect === "postgres") return indexOnPostgres(storage, queued);
  const unread = sizes.unread > 0 ? await storage.all(nextUnread, { limit: sizes.unread }) : [];
  const events = await storage.all(eventsToIndex, { ids: idsOf([...queued, ...unread]) });
  const rows = events.map((event) => ({ id: event.id, words: indexedWords(event).join(" ") }));
  const until = unread.at(-1)?.seq ?? 0;
  const [read, { rows: done }] = await storage.atomically(
    sizes.toQueue > 0
      ? write(queueNext, { limit: sizes.toQueue })
      : write(indexNext, { ids: idsOf(unread), until }),
    write(unqueue, { seqs: queued.map(({ seq }) => seq) }),
    write(deleteWords, { ids: idsOf(rows) }),
    write(insertWords, { rows }),
    write(mergeSegments, { pages: mergedPages }),
  );
  const { seq, hasUnread } = read.rows[0] ?? { seq: 0, hasUnread: unread.length > 0 };
  return { readUntil: seq, hasUnread, seqs: done.map((row) => row.seq) };
}

type Waiting = Pick<Event, "id"> & { readonly seq: number };

/** In no group: there it would see the event of another transaction that has yet to write its notifications. */
async function indexOnPostgres(
  storage: Storage,
  queued: readonly Waiting[],
): Promise<IndexedBatch> {
  const nothing = { readUntil: 0, hasUnread: false };
  if (queued.length === 0) return { ...nothing, seqs: [] };
  const events = await storage.all(eventsToIndex, { ids: idsOf(queued) });
  const words = new Map(
    events.map((event) => [
      event.id,
      { version: event.version, words: asVector(indexedWords(event)) },
    ]),
  );
  const given = queued.map((row) => ({ ...row, ...words.get(row.id) }));
  const done = await storage.all(indexQueued, { given: JSON.stringify(given) });
  return { ...nothing, seqs: done.map(({ seq }) => seq) };
}

function idsOf(rows: readonly Pick<Event, "id">[]): readonly Event["id"][] {
  return [...new Set(rows.map(({ id }) => id))];
}
