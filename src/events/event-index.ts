import { defineTable } from "../db/table.ts";
import type { deliveryStates } from "../outbound/model/notification-words.ts";
import type { Notification } from "../outbound/model/notification.ts";

export type DeliveryState = (typeof deliveryStates)[number];

const worstFirst = ["dead", "retrying", "pending", "delivered"] as const;

/** The state of an event with these notifications. Lists find the same. */
export function deliveryStateOf(
  notifications: readonly Pick<Notification, "status">[],
): DeliveryState {
  return worstFirst.find((each) => notifications.some(({ status }) => status === each)) ?? "none";
}

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
