import { Type } from "@sinclair/typebox";

import type { Place } from "../db/place.ts";
import { defineTable, personal, type Stored } from "../db/table.ts";
import {
  count,
  flag,
  instant,
  mapOf,
  nullable,
  type Of,
  prefixedId,
  scalar,
  text,
  word,
} from "../web/schema.ts";

import { eventStatuses } from "./event-words.ts";

export type EventStatus = (typeof eventStatuses)[number];

export const eventFields = {
  id: prefixedId("evt_", "Sorts by time of receipt."),
  provider: personal("none", text("The provider that sent it.", "code_host")),
  // For ignored events the provider's name, such as `push`.
  type: personal(
    "none",
    text("What happened. For accepted events one of Skyhook's types.", "pull_request.opened"),
  ),
  status: word(
    eventStatuses,
    "`accepted`: operators were notified. `ignored`: verified, but of a type that is not configured, or caused by Skyhook itself. `unreadable`: verified, but could not be parsed.",
  ),
  idempotencyKey: personal(
    "pseudonym",
    text("Provider and delivery id, or the hash of the body.", "code_host:72d3162e"),
  ),
  occurredAt: instant("The provider's time, otherwise the time of receipt."),
  createdAt: instant("Time of receipt."),
  subject: personal("text", nullable(text("Stable id of the resource.", "pull_request/42"))),
  title: personal("text", text("A one-line summary.", "Pull request #42 opened")),
  url: personal("text", nullable(text("Link to the resource."))),
  actor: personal("text", nullable(text("Name or handle of who caused it.", "octocat"))),
  // Bounded in number and length, safe to display as text.
  data: personal("text", mapOf(scalar, "Named fields copied from the payload.")),
  recovered: flag(
    "Whether it was read from the provider's log, because its delivery had not arrived.",
  ),
};

/** The interpreted form of every provider's payload, as shown to operators, in the feed and to the operator gateway. */
export interface Event extends Of<typeof eventFields> {}

export type EventData = Event["data"];

export const receiptFields = {
  headers: personal(
    "text",
    mapOf(
      Type.String(),
      "Request headers by lower-case name: those that the provider reads and those known to hold no secret.",
    ),
  ),
  address: text(
    "The client's address. For a recovered event, the host of the provider's API.",
    "192.0.2.1",
  ),
  signedWith: nullable(
    word(["current", "previous"]),
    "The secret that the signature matched; null for a recovered event.",
  ),
  bodyBytes: count("Size of the body in bytes.", 1024),
  duplicates: count("Number of duplicates received.", 0),
  item: nullable(
    count(
      "Its number among the items of its delivery, from 1; null if the whole body is the event.",
    ),
  ),
  items: nullable(count("The number of items of its delivery, or null.")),
};

/** How an event was received. Events that Skyhook creates itself have no receipt. */
export interface Receipt extends Of<typeof receiptFields> {}

const { id: _, createdAt: __, ...ownFields } = eventFields;

export const eventsTable = defineTable(
  "events",
  {
    /** The order of lists and of commits. It makes up the id and the time of receipt. */
    position: "bigint",
    /** The random part of the id. */
    tail: "bigint",
    ...ownFields,
    ...receiptFields,
    /** For events that Skyhook creates, at most the trace context. */
    headers: personal("text", nullable(receiptFields.headers)),
    address: "text or null: pseudonym",
    /** What it changed in a booking, or why nothing, for people. Null if it is not about a booking's payment. */
    effect: "text or null: text",
    /** Null after `BODY_RETENTION_DAYS`, for events that Skyhook creates, and where `bodyOf` has it. */
    body: "packed or null: text",
    /** The position of the event of the same delivery that holds the body and the headers; null if it is this one. */
    bodyOf: "bigint or null",
    /**
     * The first half of the body's SHA-256, unique per provider, so that the same signed bytes under
     * a forged delivery id are a duplicate. Null where the signature covers the id: equal bytes then
     * have equal idempotency keys, and a second index would only cost time.
     */
    bodyHash: "bytes or null: none",
    /** How often its words changed; below zero once they are indexed again. */
    changes: "integer",
  },
  ["position"],
);

type Columns = Stored<typeof eventsTable>;

/** What is stored of an event. The storage assigns its place. */
export interface StoredEvent
  extends Omit<Columns, "position" | "tail" | "bodyOf" | "changes">, Pick<Event, "createdAt"> {
  readonly place: Place;
  readonly bodyOf: Place | null;
}

/** What an event says, before it is stored too: what notifications are made of. */
export interface EventContent extends Omit<Event, "id"> {}

/** The receipt of an event, with what is stored of its request. */
export interface StoredReceipt extends Pick<Columns, keyof typeof noReceipt> {}

/** The columns of an event without a receipt. */
export const noReceipt = {
  headers: null,
  address: null,
  signedWith: null,
  bodyBytes: 0,
  duplicates: 0,
  effect: null,
  body: null,
  bodyOf: null,
  item: null,
  items: null,
} as const;

/** The default values of an event's optional fields. */
export const emptyFields = { subject: null, url: null, actor: null, data: {}, recovered: false };

/** With those of its optional columns. */
export const emptyEvent = { ...emptyFields, ...noReceipt, bodyHash: null };
