import { defineTable } from "../db/table.ts";
import type { Event } from "../event/event.ts";
import type { deliveryStates } from "../outbound/notification-words.ts";
import type { Notification } from "../outbound/notification.ts";

export type DeliveryState = (typeof deliveryStates)[number];

const worstFirst = ["dead", "retrying", "pending", "delivered"] as const;

/** The state of an event with these notifications. The search index computes the same. */
export function deliveryStateOf(
  notifications: readonly Pick<Notification, "status">[],
): DeliveryState {
  return worstFirst.find((each) => notifications.some(({ status }) => status === each)) ?? "none";
}

/** An event that is to be indexed. The database indexes it when the row is deleted. */
interface QueuedEvent {
  readonly seq: number;
  readonly eventId: Event["id"];
}

export const searchQueueTable = defineTable<QueuedEvent>("search_queue", {
  seq: "bigint",
  eventId: "text",
});

/** An indexed event. The database keeps the state up to date. */
interface EventState {
  /** Too large for a JavaScript number: never select it. */
  readonly position: number;
  readonly id: Event["id"];
  readonly createdAt: Date;
  readonly delivery: DeliveryState;
}

export const eventStatesTable = defineTable<EventState>("event_states", {
  position: "bigint",
  id: "text",
  createdAt: "instant",
  delivery: "text",
});

/** The full-text index. `rowid` is the event's position. */
export const eventWordsTable = defineTable<{ readonly rowid: number }>("event_words", {
  rowid: "bigint",
});

/** The words of the full-text index, one row for each place. Only on SQLite. */
export const eventVocabularyTable = defineTable<{ readonly term: string }>("event_vocabulary", {
  term: "text",
});
