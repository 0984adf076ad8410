import { and, asc, eq, isNull, sql } from "drizzle-orm";

import { allColumns, encoded, statementsOver } from "../../db/statement.ts";
import { type Event, eventsTable, type StoredEvent } from "../../event/event.ts";
import { type PaymentSearch, paymentSearchesTable } from "../payment-search.ts";

const statement = statementsOver({
  events: eventsTable,
  paymentSearches: paymentSearchesTable,
});

interface After extends Pick<Event, "type"> {
  readonly afterTime: Date;
  readonly afterId: string;
  readonly limit: number;
}

/**
 * The next events of one type, in the order of receipt. Of any provider and with any effect: to skip rows, SQLite would
 * read any number of them on the event loop's thread.
 */
export const eventsOfType = statement<After>()((db, { events }, p) =>
  db
    .select({
      id: events.id,
      createdAt: events.createdAt,
      provider: events.provider,
      effect: events.effect,
    })
    .from(events)
    .where(
      and(
        eq(events.type, p.type),
        sql`(${events.createdAt}, ${events.id}) > (${encoded(p.afterTime, events.createdAt)}, ${p.afterId})`,
      ),
    )
    .orderBy(asc(events.createdAt), asc(events.id))
    .limit(p.limit),
);

/** Sets the effect of an event. Touches no row if it has one. */
export const setEffect = statement<Pick<StoredEvent, "id" | "effect">>()((db, { events }, p) =>
  db
    .update(events)
    .set({ effect: p.effect })
    .where(and(eq(events.id, p.id), isNull(events.effect))),
);

/** Replaces the effect of an event that waited. */
export const replaceEffect = statement<Pick<StoredEvent, "id" | "effect">>()((db, { events }, p) =>
  db.update(events).set({ effect: p.effect }).where(eq(events.id, p.id)),
);

export const paymentSearchOf = statement<Pick<PaymentSearch, "provider" | "source">>()(
  (db, { paymentSearches }, p) =>
    db
      .select({ searchedUntil: paymentSearches.searchedUntil })
      .from(paymentSearches)
      .where(and(eq(paymentSearches.provider, p.provider), eq(paymentSearches.source, p.source))),
);

export const setPaymentSearch = statement<PaymentSearch>()((db, { paymentSearches }, p) =>
  db
    .insert(paymentSearches)
    .values(allColumns(paymentSearches))
    .onConflictDoUpdate({
      target: [paymentSearches.provider, paymentSearches.source],
      set: { searchedUntil: encoded(p.searchedUntil, paymentSearches.searchedUntil) },
    }),
);
