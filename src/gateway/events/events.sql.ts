import { and, eq, isNotNull, isNull, or, sql } from "drizzle-orm";

import { type Event, type StoredEvent, eventsTable } from "../event.ts";
import { eventColumns } from "../event.sql.ts";

import { pagesOver } from "../../db/keyset.ts";
import { allColumns, statementsOver } from "../../db/statement.ts";

const tables = { events: eventsTable };
const statement = statementsOver(tables);

/** Stores an event. Changes no row if its idempotency key or body hash exists. */
export const insertEvent = statement<StoredEvent>()((db, { events }) =>
  db.insert(events).values(allColumns(events)).onConflictDoNothing(),
);

/**
 * The event that a delivery duplicates: with the same body hash if the event has one, otherwise with the
 * same idempotency key. An equal unsigned id with another body is not a duplicate.
 */
export const firstOfDelivery = statement<
  Pick<StoredEvent, "provider" | "idempotencyKey" | "bodyHash">
>()((db, { events }, p) =>
  db
    .select({
      id: events.id,
      type: events.type,
      status: events.status,
      idempotencyKey: events.idempotencyKey,
    })
    .from(events)
    .where(
      or(
        and(isNull(events.bodyHash), eq(events.idempotencyKey, p.idempotencyKey)),
        and(
          isNotNull(events.bodyHash),
          eq(events.provider, p.provider),
          eq(events.bodyHash, p.bodyHash),
        ),
      ),
    )
    .limit(1),
);

export const countDuplicate = statement<Pick<Event, "id">>()((db, { events }, p) =>
  db
    .update(events)
    .set({ duplicates: sql`${events.duplicates} + 1` })
    .where(eq(events.id, p.id)),
);

export const eventsByIds = statement<{ ids: readonly Event["id"][] }>()((db, t, p, dialect) =>
  db.select(eventColumns(t)).from(t.events).where(dialect.among(t.events.id, p.ids)),
);

/** The events with these idempotency keys, in any order. */
export const eventsByKeys = statement<{ keys: readonly Event["idempotencyKey"][] }>()(
  (db, t, p, dialect) =>
    db.select(eventColumns(t)).from(t.events).where(dialect.among(t.events.idempotencyKey, p.keys)),
);

/** The receipt of an event, with the exact bytes. */
export const receiptById = statement<Pick<Event, "id">>()((db, { events }, p) =>
  db
    .select({
      address: events.address,
      headers: events.headers,
      signedWith: events.signedWith,
      bodyBytes: events.bodyBytes,
      duplicates: events.duplicates,
      body: events.body,
    })
    .from(events)
    .where(eq(events.id, p.id))
    .limit(1),
);

/** Replaces the normalised fields of an event. Identity and receipt stay. */
export const renormaliseEvent = statement<
  Omit<Event, "provider" | "idempotencyKey" | "createdAt">
>()((db, { events }, p) =>
  db
    .update(events)
    .set({
      type: p.type,
      status: p.status,
      occurredAt: p.occurredAt,
      subject: p.subject,
      title: p.title,
      url: p.url,
      actor: p.actor,
      data: p.data,
    })
    .where(eq(events.id, p.id)),
);

/** The last event of a provider. */
export const lastEventOf = statement<Pick<Event, "provider">>()((db, { events }, p) =>
  db
    .select({ createdAt: events.createdAt, type: events.type })
    .from(events)
    .where(eq(events.provider, p.provider))
    .orderBy(sql`${events.createdAt} desc`, sql`${events.id} desc`)
    .limit(1),
);

export const eventPages = pagesOver(tables)<Event, "provider" | "type" | "status">({
  table: (t) => t.events,
  select: (db, t) => db.select(eventColumns(t)).from(t.events),
  uncommon: { filter: "status", common: "accepted" },
});
