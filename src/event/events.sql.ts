import { and, between, desc, eq, gte, isNotNull, isNull, or, sql } from "drizzle-orm";

import { allColumns, encoded, type Parameters, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";

import { eventColumns } from "./event.sql.ts";
import { type Event, eventsTable, type StoredEvent } from "./event.ts";

const tables = { events: eventsTable };
const statement = statementsOver(tables);

/** Stores an event. Changes no row if its idempotency key or body hash exists. */
export const insertEvent = statement<StoredEvent>()((db, { events }, p, dialect) => {
  const seq = dialect.nextInOrder(events.seq, encoded(p.createdAt, events.createdAt));
  return db
    .insert(events)
    .values({ ...allColumns(events, "seq"), seq })
    .onConflictDoNothing();
});

/** The event that a request without a body hash duplicates. */
export const firstWithKey = statement<Pick<StoredEvent, "idempotencyKey">>()((db, t, p) =>
  db
    .select(firstColumns(t))
    .from(t.events)
    .where(and(isNull(t.events.bodyHash), eq(t.events.idempotencyKey, p.idempotencyKey)))
    .limit(1),
);

/** The event that a request with a body hash duplicates. An equal key is not enough: unsigned ids can be forged. */
export const firstWithHash = statement<Pick<StoredEvent, "provider" | "bodyHash">>()((db, t, p) =>
  db
    .select(firstColumns(t))
    .from(t.events)
    // As in the partial index.
    .where(
      and(
        isNotNull(t.events.bodyHash),
        eq(t.events.provider, p.provider),
        eq(t.events.bodyHash, p.bodyHash),
      ),
    )
    .limit(1),
);

function firstColumns({ events: { id, type, status, idempotencyKey } }: TablesOf<typeof tables>) {
  return { id, type, status, idempotencyKey };
}

/** Events of one type about one thing, newest first. */
interface Like extends Pick<Event, "provider" | "type" | "subject"> {
  readonly limit: number;
}

export const recoveredLike = statement<Like>()((db, t, p) =>
  db
    .select(eventColumns(t))
    .from(t.events)
    // The bare column, as in the partial index.
    .where(and(sql`${t.events.recovered}`, isLike(t, p)))
    .orderBy(desc(t.events.createdAt), desc(t.events.id))
    .limit(p.limit),
);

export const storedLikeSince = statement<Like & { readonly since: Date }>()((db, t, p) =>
  db
    .select(eventColumns(t))
    .from(t.events)
    .where(and(isLike(t, p), gte(t.events.createdAt, encoded(p.since, t.events.createdAt))))
    .orderBy(desc(t.events.createdAt), desc(t.events.id))
    .limit(p.limit),
);

function isLike({ events }: TablesOf<typeof tables>, p: Parameters<Like>) {
  return and(
    eq(events.type, p.type),
    eq(events.provider, p.provider),
    sql`${events.subject} is not distinct from ${p.subject}`,
  );
}

export const countDuplicate = statement<Pick<Event, "id">>()((db, { events }, p) =>
  db
    .update(events)
    .set({ duplicates: sql`${events.duplicates} + 1` })
    .where(eq(events.id, p.id)),
);

export const eventsByIds = statement<{ ids: readonly Event["id"][] }>()((db, t, p, dialect) =>
  db.select(eventColumns(t)).from(dialect.lookedUp(t.events.id, p.ids)),
);

/** With the headers of their requests. */
export const eventsToSend = statement<{ ids: readonly Event["id"][] }>()((db, t, p, dialect) =>
  db
    .select({ ...eventColumns(t), headers: t.events.headers })
    .from(dialect.lookedUp(t.events.id, p.ids)),
);

/** The events with these idempotency keys, in any order. */
export const eventsByKeys = statement<{ keys: readonly Event["idempotencyKey"][] }>()(
  (db, t, p, dialect) =>
    db.select(eventColumns(t)).from(t.events).where(dialect.among(t.events.idempotencyKey, p.keys)),
);

/** The events with these idempotency keys, and whether their bodies are compared too. */
export const firstsWithKeys = statement<{ keys: readonly Event["idempotencyKey"][] }>()(
  (db, t, p, dialect) =>
    db
      .select({ ...firstColumns(t), bodyHash: t.events.bodyHash })
      .from(t.events)
      .where(dialect.among(t.events.idempotencyKey, p.keys)),
);

const receiptColumns = ({ events }: TablesOf<typeof tables>) => ({
  address: events.address,
  headers: events.headers,
  signedWith: events.signedWith,
  bodyBytes: events.bodyBytes,
  duplicates: events.duplicates,
  effect: events.effect,
  bodyOf: events.bodyOf,
  item: events.item,
  items: events.items,
});

/** The receipt of an event, with the exact bytes unless `bodyOf` has them; see `receiptOf`. */
export const receiptById = statement<Pick<Event, "id">>()((db, t, p) =>
  db
    .select({ ...receiptColumns(t), body: t.events.body })
    .from(t.events)
    .where(eq(t.events.id, p.id))
    .limit(1),
);

/** The same without the bytes. */
export const receiptWithoutBodyById = statement<Pick<Event, "id">>()((db, t, p) =>
  db
    .select({ ...receiptColumns(t), body: sql<null>`null` })
    .from(t.events)
    .where(eq(t.events.id, p.id))
    .limit(1),
);

/** The items with these numbers among those that were stored together. `holder`: the event that has their body. */
export const itemsBeside = statement<{ holder: Event["id"]; before: number; after: number }>()(
  (db, { events }, p) =>
    db
      .select({ id: events.id, item: events.item })
      .from(events)
      .where(
        or(
          and(eq(events.bodyOf, p.holder), between(events.item, p.before, p.after)),
          and(eq(events.id, p.holder), between(events.item, p.before, p.after)),
        ),
      )
      .limit(3),
);

/** The size of the body when it was received, and the event that holds it. Does not read the body. */
export const bodySizeById = statement<Pick<Event, "id">>()((db, { events }, p) =>
  db
    .select({ bodyBytes: events.bodyBytes, bodyOf: events.bodyOf })
    .from(events)
    .where(eq(events.id, p.id))
    .limit(1),
);

/** Replaces the interpreted fields of an event. Identity and receipt stay. */
export const reinterpretEvent = statement<
  Omit<Event, "provider" | "idempotencyKey" | "createdAt" | "recovered">
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
