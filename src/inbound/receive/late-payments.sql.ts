import { and, asc, eq, gt, isNull } from "drizzle-orm";

import { allColumns, encoded, statementsOver } from "../../db/statement.ts";
import { eventId, hasId } from "../../event/event.sql.ts";
import { type Event, eventsTable, type StoredEvent } from "../../event/event.ts";
import { type PaymentSearch, paymentSearchesTable } from "../model/payment-search.ts";

const statement = statementsOver({
  events: eventsTable,
  paymentSearches: paymentSearchesTable,
});

interface After extends Pick<Event, "type"> {
  readonly after: number;
  readonly limit: number;
}

/**
 * The next events of one type, in the order of receipt. Of any provider and with any effect: to skip rows, SQLite would
 * read any number of them on the event loop's thread.
 */
export const eventsOfType = statement<After>()((db, { events }, p, dialect) =>
  db
    .select({
      id: eventId({ events }, dialect),
      position: events.position,
      provider: events.provider,
      effect: events.effect,
    })
    .from(events)
    .where(and(eq(events.type, p.type), gt(events.position, p.after)))
    .orderBy(asc(events.position))
    .limit(p.limit),
);

type OfEvent = Pick<Event, "id"> & Pick<StoredEvent, "effect">;

/** Sets the effect of an event. Touches no row if it has one. */
export const setEffect = statement<OfEvent>()((db, t, p) =>
  db
    .update(t.events)
    .set({ effect: p.effect })
    .where(and(hasId(t, p.id), isNull(t.events.effect))),
);

/** Replaces the effect of an event that waited. */
export const replaceEffect = statement<OfEvent>()((db, t, p) =>
  db.update(t.events).set({ effect: p.effect }).where(hasId(t, p.id)),
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
