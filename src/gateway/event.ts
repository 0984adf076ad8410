import { defineTable } from "../db/table.ts";

/**
 * `accepted`: listed by its provider, operators are told. `ignored`: verified, but of a type nobody
 * asked for. `unreadable`: verified bytes that could not be parsed; kept so that nothing is lost.
 */
export const eventStatuses = ["accepted", "ignored", "unreadable"] as const;
export type EventStatus = (typeof eventStatuses)[number];

/** Named fields copied out of a payload; bounded in number and length, safe to show as text. */
export type EventData = Readonly<Record<string, string | number | boolean | null>>;

/** What every provider's payload becomes: the one shape that operators, feeds and gateways see. */
export interface Event {
  /** `evt_` and a UUIDv7: sorts by time of receipt. */
  readonly id: `evt_${string}`;
  readonly provider: string;
  /** The product's own name, as `task.completed`; for ignored events the provider's, as `push`. */
  readonly type: string;
  readonly status: EventStatus;
  readonly idempotencyKey: string;
  /** When it happened by the provider's word; the time of receipt where it says nothing. */
  readonly occurredAt: Date;
  /** When it was received, to the millisecond. */
  readonly createdAt: Date;
  /** Stable id of the thing it is about, as `task/6XR4` or `deployment/dpl_1`. */
  readonly subject: string | null;
  /** One line that an operator wants to read. */
  readonly title: string;
  readonly url: string | null;
  /** Who did it, as a name or handle. */
  readonly actor: string | null;
  readonly data: EventData;
}

/** How an event came in. Events that Skyhook makes itself have none. */
export interface Receipt {
  /** Request headers by lower-case name that the provider reads or that are known to hold no secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** The client's address. */
  readonly address: string;
  /** Which of the provider's secrets the signature was made with. */
  readonly signedWith: "current" | "previous";
  readonly bodyBytes: number;
  /** How often the same delivery came again. */
  readonly duplicates: number;
}

/** An event with its receipt and the exact bytes it was made of, as stored. */
export interface StoredEvent extends Event {
  /** Of an event of our own, its place in a trace at most. */
  readonly headers: Receipt["headers"] | null;
  readonly address: string | null;
  readonly signedWith: Receipt["signedWith"] | null;
  readonly bodyBytes: number;
  readonly duplicates: number;
  /** Null once `BODY_RETENTION_DAYS` have passed, and for events of our own. */
  readonly body: Uint8Array | null;
  /**
   * First half of the body's SHA-256, reserved with the provider so that the same signed bytes under
   * a forged delivery id are a duplicate. Null where the signature covers the id: equal bytes then
   * mean equal keys, and the index would cost time for nothing.
   */
  readonly bodyHash: Uint8Array | null;
}

export const eventsTable = defineTable<StoredEvent>("events", {
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
});
