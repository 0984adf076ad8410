import { defineTable } from "../db/table.ts";

import type { eventStatuses } from "./event-words.ts";

export type EventStatus = (typeof eventStatuses)[number];

/** Named fields copied from a payload. Bounded in number and length, safe to display as text. */
export type EventData = Readonly<Record<string, string | number | boolean | null>>;

/** The interpreted form of every provider's payload, as shown to operators, in the feed and to the operator gateway. */
export interface Event {
  /** `evt_` and a UUIDv7, which sorts by time of receipt. */
  readonly id: `evt_${string}`;
  readonly provider: string;
  /** Skyhook's name, such as `task.completed`. For ignored events the provider's name, such as `push`. */
  readonly type: string;
  readonly status: EventStatus;
  readonly idempotencyKey: string;
  /** The time in the payload, or the time of receipt if the payload has none. */
  readonly occurredAt: Date;
  /** Time of receipt, in whole milliseconds. */
  readonly createdAt: Date;
  /** Stable id of the resource, such as `task/6XR4` or `deployment/dpl_1`. */
  readonly subject: string | null;
  /** A one-line summary for operators. */
  readonly title: string;
  readonly url: string | null;
  /** Name or handle of the person or program that caused the event. */
  readonly actor: string | null;
  readonly data: EventData;
  /** Whether Skyhook read it from the provider's log, because its delivery had not arrived. */
  readonly recovered: boolean;
}

/** How an event was received. Events that Skyhook creates itself have no receipt. */
export interface Receipt {
  /** Request headers by lower-case name: those that the provider reads and those known to hold no secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** The client's address. For a recovered event, the host of the provider's API. */
  readonly address: string;
  /** The secret that the signature matched. Null for a recovered event, which the provider's API vouched for. */
  readonly signedWith: "current" | "previous" | null;
  readonly bodyBytes: number;
  /** How many duplicates of the delivery were received. */
  readonly duplicates: number;
}

/** An event with its receipt and the exact bytes received, as stored. */
export interface StoredEvent extends Event {
  /** For events that Skyhook creates, at most the trace context. */
  readonly headers: Receipt["headers"] | null;
  readonly address: string | null;
  readonly signedWith: Receipt["signedWith"];
  readonly bodyBytes: number;
  readonly duplicates: number;
  /** What it changed in a booking, or why nothing, for people. Null if it is not about a booking's payment. */
  readonly effect: string | null;
  /** Null after `BODY_RETENTION_DAYS`, and for events that Skyhook creates. */
  readonly body: Uint8Array | null;
  /**
   * The first half of the body's SHA-256, unique per provider, so that the same signed bytes under
   * a forged delivery id are a duplicate. Null where the signature covers the id: equal bytes then
   * have equal idempotency keys, and a second index would only cost time.
   */
  readonly bodyHash: Uint8Array | null;
}

/** The row of an event. */
interface NumberedEvent extends StoredEvent {
  /** Increases with every commit, independent of clocks. Null for events that an earlier version stored. */
  readonly seq: number | null;
}

/** The columns of an event without a receipt. */
export const noReceipt = {
  headers: null,
  address: null,
  signedWith: null,
  bodyBytes: 0,
  duplicates: 0,
  effect: null,
  body: null,
  bodyHash: null,
} satisfies Omit<StoredEvent, keyof Event>;

/** The default values of an event's optional columns. */
export const emptyEvent = {
  subject: null,
  url: null,
  actor: null,
  data: {},
  recovered: false,
  ...noReceipt,
};

export const eventsTable = defineTable<NumberedEvent>("events", {
  id: "text",
  provider: "text",
  type: "text",
  status: "text",
  idempotencyKey: "text",
  occurredAt: "instant",
  createdAt: "instant",
  subject: "text or null",
  title: "text",
  url: "text or null",
  actor: "text or null",
  data: "json",
  headers: "json or null",
  address: "text or null",
  signedWith: "text or null",
  bodyBytes: "integer",
  duplicates: "integer",
  bodyHash: "bytes or null",
  body: "bytes or null",
  recovered: "boolean",
  effect: "text or null",
  seq: "bigint or null",
});
