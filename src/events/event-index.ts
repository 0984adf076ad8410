import { defineTable } from "../db/table.ts";
import { eventFields } from "../event/event.ts";
import { deliveryStates } from "../outbound/notification-words.ts";
import type { Notification } from "../outbound/notification.ts";
import { word } from "../web/schema.ts";

export type DeliveryState = (typeof deliveryStates)[number];

const worstFirst = ["dead", "retrying", "pending", "delivered"] as const;

/** The state of an event with these notifications. The search index computes the same. */
export function deliveryStateOf(
  notifications: readonly Pick<Notification, "status">[],
): DeliveryState {
  return worstFirst.find((each) => notifications.some(({ status }) => status === each)) ?? "none";
}

/** How far the follower has read the events. Only on SQLite: PostgreSQL queues each event in its own transaction. */
export const searchProgressTable = defineTable("search_progress", {
  seq: "bigint",
  /** What the database does with the events up to a new `seq`. */
  step: word(["index", "queue"]),
});

/** Events that are to be indexed. On SQLite, the database updates the state of one when its row is deleted. */
export const searchQueueTable = defineTable("search_queue", {
  seq: "bigint",
  eventId: eventFields.id,
});

/** Indexed events. The database keeps their states up to date. */
export const eventStatesTable = defineTable("event_states", {
  /** Too large for a JavaScript number: never select it. */
  position: "bigint",
  id: eventFields.id,
  createdAt: "instant",
  delivery: word(deliveryStates),
});

/** The full-text index. `rowid` is the event's position. */
export const eventWordsTable = defineTable("event_words", {
  rowid: "bigint",
  words: "text: text",
});

/** The commands of the full-text index (sqlite.org/fts5.html, section 6). Only on SQLite. */
export const indexCommandsTable = defineTable("event_words", {
  eventWords: "text",
  rank: "integer",
});

/** The words of the full-text index, one row for each place. Only on SQLite. */
export const eventVocabularyTable = defineTable("event_vocabulary", { term: "text" });
