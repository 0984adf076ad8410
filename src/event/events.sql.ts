import { and, between, desc, eq, gte, isNull, or, sql } from "drizzle-orm";

import type { Place } from "../db/place.ts";
import { allColumns, type Dialect, type Parameters, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";

import { hasBodyHash, hasKey, hasOneOfKeys, insertedOnce } from "./event-keys.sql.ts";
import { createdAt, eventColumns, eventId, firstPosition, hasId } from "./event.sql.ts";
import { type Event, eventsTable, type StoredEvent } from "./event.ts";

const tables = { events: eventsTable };
const statement = statementsOver(tables);

/** Stores an event. Changes no row if its idempotency key or body hash exists. */
export const insertEvent = statement<StoredEvent>()(
  (db, { events }, p, dialect) => {
    // Guarantee: the value of `place` is that of a `StoredEvent`.
    const tail = sql.param(p.place, {
      mapToDriverValue: (place: unknown) => (place as Place).tail,
    });
    const given = allColumns(events, "position", "tail", "changes");
    return insertedOnce(
      db,
      events,
      { ...given, position: p.place, tail: sql`${tail}`, changes: sql`0` },
      dialect,
    );
  },
  { place: ({ place }) => place },
);

/** The event that a request without a body hash duplicates. */
export const firstWithKey = statement<Pick<StoredEvent, "idempotencyKey">>()((db, t, p, dialect) =>
  db
    .select(firstColumns(t, dialect))
    .from(t.events)
    .where(and(isNull(t.events.bodyHash), hasKey(t, p.idempotencyKey, dialect)))
    .limit(1),
);

/** The event that a request with a body hash duplicates. An equal key is not enough: unsigned ids can be forged. */
export const firstWithHash = statement<Pick<StoredEvent, "provider" | "bodyHash">>()(
  (db, t, p, dialect) =>
    db
      .select(firstColumns(t, dialect))
      .from(t.events)
      .where(hasBodyHash(t, p, dialect))
      .limit(1),
);

function firstColumns({ events }: TablesOf<typeof tables>, dialect: Dialect) {
  const { type, status, idempotencyKey } = events;
  return { id: eventId({ events }, dialect), type, status, idempotencyKey };
}

/** Events of one type about one thing, newest first. */
interface Like extends Pick<Event, "provider" | "type" | "subject"> {
  readonly limit: number;
}

export const recoveredLike = statement<Like>()((db, t, p, dialect) =>
  db
    .select(eventColumns(t, dialect))
    .from(t.events)
    // The bare column, as in the partial index.
    .where(and(sql`${t.events.recovered}`, isLike(t, p)))
    .orderBy(desc(t.events.position))
    .limit(p.limit),
);

export const storedLikeSince = statement<Like & { readonly since: Date }>()((db, t, p, dialect) =>
  db
    .select(eventColumns(t, dialect))
    .from(t.events)
    .where(and(isLike(t, p), gte(t.events.position, firstPosition(p.since))))
    .orderBy(desc(t.events.position))
    .limit(p.limit),
);

function isLike({ events }: TablesOf<typeof tables>, p: Parameters<Like>) {
  return and(
    eq(events.type, p.type),
    eq(events.provider, p.provider),
    sql`${events.subject} is not distinct from ${p.subject}`,
  );
}

export const countDuplicate = statement<Pick<Event, "id">>()((db, t, p) =>
  db
    .update(t.events)
    .set({ duplicates: sql`${t.events.duplicates} + 1` })
    .where(hasId(t, p.id)),
);

/** Events by their positions. */
interface Several {
  readonly positions: readonly number[];
}

export const eventsAt = statement<Several>()((db, t, p, dialect) =>
  db.select(eventColumns(t, dialect)).from(dialect.lookedUp(t.events.position, p.positions)),
);

/** With the positions, and the headers of their requests. */
export const eventsToSend = statement<Several>()((db, t, p, dialect) =>
  db
    .select({
      ...eventColumns(t, dialect),
      headers: t.events.headers,
      position: t.events.position,
    })
    .from(dialect.lookedUp(t.events.position, p.positions)),
);

/** The events with these idempotency keys, in any order. */
export const eventsByKeys = statement<{ keys: readonly Event["idempotencyKey"][] }>()(
  (db, t, p, dialect) =>
    db
      .select(eventColumns(t, dialect))
      .from(t.events)
      .where(hasOneOfKeys(t, p.keys, dialect)),
);

/** The events with these idempotency keys, and whether their bodies are compared too. */
export const firstsWithKeys = statement<{ keys: readonly Event["idempotencyKey"][] }>()(
  (db, t, p, dialect) =>
    db
      .select({ ...firstColumns(t, dialect), bodyHash: t.events.bodyHash })
      .from(t.events)
      .where(hasOneOfKeys(t, p.keys, dialect)),
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

/** One event by its position. */
interface At {
  readonly position: number;
}

/** The receipt of an event, with the exact bytes unless `bodyOf` has them; see `receiptOf`. */
export const receiptAt = statement<At>()((db, t, p) =>
  db
    .select({ ...receiptColumns(t), body: t.events.body })
    .from(t.events)
    .where(eq(t.events.position, p.position))
    .limit(1),
);

/** The same without the bytes. */
export const receiptWithoutBodyAt = statement<At>()((db, t, p) =>
  db
    .select({ ...receiptColumns(t), body: sql<null>`null` })
    .from(t.events)
    .where(eq(t.events.position, p.position))
    .limit(1),
);

/** The items with these numbers among those that were stored together. `holder`: the event that has their body. */
export const itemsBeside = statement<{ holder: number; before: number; after: number }>()((
  db,
  t,
  p,
  dialect,
) => {
  const { position, bodyOf, item } = t.events;
  return db
    .select({ id: eventId(t, dialect), item })
    .from(t.events)
    .where(
      or(
        and(eq(bodyOf, p.holder), between(item, p.before, p.after)),
        and(eq(position, p.holder), between(item, p.before, p.after)),
      ),
    )
    .limit(3);
});

/** The size of the body when it was received, and the event that holds it. Does not read the body. */
export const bodySizeById = statement<Pick<Event, "id">>()((db, t, p) =>
  db
    .select({ bodyBytes: t.events.bodyBytes, bodyOf: t.events.bodyOf })
    .from(t.events)
    .where(hasId(t, p.id))
    .limit(1),
);

/** Has the words of an event indexed again. */
const changedAgain = ({ events }: TablesOf<typeof tables>) => sql`abs(${events.changes}) + 1`;

/** Replaces the interpreted fields of an event, whose words are indexed again. Identity and receipt stay. */
export const reinterpretEvent = statement<
  Omit<Event, "provider" | "idempotencyKey" | "createdAt" | "recovered">
>()((db, t, p) =>
  db
    .update(t.events)
    .set({
      type: p.type,
      status: p.status,
      occurredAt: p.occurredAt,
      subject: p.subject,
      title: p.title,
      url: p.url,
      actor: p.actor,
      data: p.data,
      changes: changedAgain(t),
    })
    .where(hasId(t, p.id)),
);

/** Has the words of an event indexed again. */
export const indexAgain = statement<Pick<Event, "id">>()((db, t, p) =>
  db
    .update(t.events)
    .set({ changes: changedAgain(t) })
    .where(hasId(t, p.id)),
);

/** The last event of a provider. */
export const lastEventOf = statement<Pick<Event, "provider">>()((db, { events }, p) =>
  db
    .select({ createdAt: createdAt(events.position), type: events.type })
    .from(events)
    .where(eq(events.provider, p.provider))
    .orderBy(desc(events.position))
    .limit(1),
);
