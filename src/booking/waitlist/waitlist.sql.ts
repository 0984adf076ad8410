import { and, asc, eq, gt, isNull, lte, sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import {
  columnsOf,
  encoded,
  type Parameters,
  rowIf,
  type Sql,
  statementsOver,
} from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { type Flight, flightsTable } from "../flight.ts";
import { lineFits, type SaleTime } from "../flights/flights.sql.ts";
import { type WaitlistEntry, waitlistTable } from "../waitlist-entry.ts";

const tables = { waitlist: waitlistTable, flights: flightsTable };
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The flight is for sale. */
function isOnSale({ flights }: Tables, { closesAfter }: Parameters<SaleTime>) {
  const { departureTime, cancelledAt } = flights;
  return and(gt(departureTime, encoded(closesAfter, departureTime)), isNull(cancelledAt));
}

/** An entry with its flight. */
export interface EntryOnFlight extends WaitlistEntry {
  readonly flight: Flight;
}

function entryColumns({ waitlist, flights }: Tables) {
  return {
    ...columnsOf(waitlist),
    flight: columnsOf(flights),
  } satisfies Record<keyof EntryOnFlight, unknown>;
}

function entriesWithFlights(db: Sql, t: Tables) {
  return db
    .select(entryColumns(t))
    .from(t.waitlist)
    .innerJoin(t.flights, eq(t.flights.id, t.waitlist.flightId));
}

// Literal, for the partial indexes.
const isWaiting = ({ waitlist }: Tables) => sql`${waitlist.status} = 'waiting'`;
const isOpen = ({ waitlist }: Tables) => sql`${waitlist.status} in ('waiting', 'offered')`;
/** When an open entry ends by itself: its offer, or else its wait. */
const endsAt = ({ waitlist }: Tables) =>
  sql`coalesce(${waitlist.offerExpiresAt}, ${waitlist.until})`;

/** Whatever changes the line of a flight waits for all that takes or frees its seats. */
const contended = ({ flightId }: Pick<WaitlistEntry, "flightId">) => ({
  table: flightsTable,
  ids: [flightId],
});

/**
 * Adds an entry to the end of the line. Touches no row while its seats are for sale to anybody, sales have ended, or the
 * user has an open entry for the flight.
 */
export const joinLine = statement<Omit<WaitlistEntry, "place"> & SaleTime>()(
  (db, t, p) => {
    const { id, seatsAvailable } = t.flights;
    const isSoldOut = sql`${seatsAvailable} < ${p.seats} or ${lineFits(t, p)}`;
    const isFull = sql`exists (select 1 from ${t.flights} where ${id} = ${p.flightId} and ${isOnSale(t, p)} and (${isSoldOut}))`;
    const place = sql`(select coalesce(max(last.place), 0) + 1 from ${t.waitlist} as last where last.flight_id = ${p.flightId} and last.status = 'waiting')`;
    return db
      .insert(t.waitlist)
      .select(rowIf(t.waitlist, isFull, { place }))
      .onConflictDoNothing();
  },
  { contended },
);

/** Returns a row if the user has at most `limit` open entries. */
export const hasRoom = statement<Pick<WaitlistEntry, "id" | "userId"> & { limit: number }>()(
  (db, t, p) =>
    db
      .select({ id: t.waitlist.id })
      .from(t.waitlist)
      .where(
        and(
          eq(t.waitlist.id, p.id),
          sql`(select count(*) from ${t.waitlist} as own where own.user_id = ${p.userId} and own.status in ('waiting', 'offered')) <= ${p.limit}`,
        ),
      ),
  { contended: ({ userId }) => ({ table: waitlistTable, ids: [userId] }) },
);

/**
 * The first of those in line that fit into the free seats and `freed` more. None at the end of sales.
 */
export const fittingInLine = statement<
  { flightId: number; freed: number; now: Date; limit: number } & SaleTime
>()((db, t, p) =>
  entriesWithFlights(db, t)
    .where(
      and(
        eq(t.waitlist.flightId, p.flightId),
        isWaiting(t),
        gt(t.waitlist.until, encoded(p.now, t.waitlist.until)),
        isOnSale(t, p),
        sql`${t.waitlist.seats} - ${p.freed} <= ${t.flights.seatsAvailable}`,
      ),
    )
    .orderBy(asc(t.waitlist.place))
    .limit(p.limit),
);

/** Flights with free seats into which somebody in line fits. Reads the lines of all flights. */
export const flightsWithOffersDue = statement<{ now: Date; limit: number } & SaleTime>()(
  (db, t, p) =>
    db
      .select({ flightId: t.waitlist.flightId })
      .from(t.waitlist)
      .innerJoin(t.flights, eq(t.flights.id, t.waitlist.flightId))
      .where(
        and(
          isWaiting(t),
          gt(t.waitlist.until, encoded(p.now, t.waitlist.until)),
          isOnSale(t, p),
          lte(t.waitlist.seats, t.flights.seatsAvailable),
        ),
      )
      .groupBy(t.waitlist.flightId)
      .limit(p.limit),
);

/** Takes the free seats that offers hold. Touches no row unless `free` seats are free: then others may come first. */
export const takeForOffers = statement<{ flightId: number; free: number; left: number }>()(
  (db, { flights }, p) =>
    db
      .update(flights)
      .set({ seatsAvailable: p.left })
      .where(and(eq(flights.id, p.flightId), eq(flights.seatsAvailable, p.free))),
  { contended },
);

/** Touches no row if the entry no longer waits. */
export const offerSeats = statement<
  Pick<WaitlistEntry, "id" | "flightId" | "offerExpiresAt"> & { now: Date }
>()(
  (db, t, p) =>
    db
      .update(t.waitlist)
      .set({
        status: "offered",
        updatedAt: p.now,
        offeredAt: p.now,
        offerExpiresAt: p.offerExpiresAt,
      })
      .where(and(eq(t.waitlist.id, p.id), isWaiting(t))),
  { contended },
);

/** Ends an open entry. Touches no row if its status is no longer `before`. */
export const endEntry = statement<
  Pick<WaitlistEntry, "id" | "flightId" | "status" | "updatedAt"> & {
    before: WaitlistEntry["status"];
  }
>()(
  (db, { waitlist }, p) =>
    db
      .update(waitlist)
      .set({ status: p.status, updatedAt: p.updatedAt })
      .where(and(eq(waitlist.id, p.id), eq(waitlist.status, p.before))),
  { contended },
);

/** The open entry of a user for a flight. */
export const openEntryOf = statement<Pick<WaitlistEntry, "userId" | "flightId">>()((db, t, p) =>
  db
    .select(columnsOf(t.waitlist))
    .from(t.waitlist)
    .where(and(eq(t.waitlist.userId, p.userId), eq(t.waitlist.flightId, p.flightId), isOpen(t)))
    .limit(1),
);

/** Open entries whose offer or wait has ended, the longest ago first. */
export const endedEntries = statement<{ now: Date; limit: number }>()((db, t, p) =>
  entriesWithFlights(db, t)
    .where(and(isOpen(t), sql`${endsAt(t)} <= ${encoded(p.now, t.waitlist.until)}`))
    .orderBy(asc(endsAt(t)))
    .limit(p.limit),
);

/** Open entries for flights that were cancelled, or moved so that sales have ended. Reads the lines of all flights. */
export const entriesOffSale = statement<{ limit: number } & SaleTime>()((db, t, p) =>
  entriesWithFlights(db, t)
    .where(and(isOpen(t), sql`not (${isOnSale(t, p)})`))
    .limit(p.limit),
);

/** The open entry that ends next. */
export const nextToEnd = statement()((db, t) =>
  db
    .select(columnsOf(t.waitlist))
    .from(t.waitlist)
    .where(isOpen(t))
    .orderBy(asc(endsAt(t)))
    .limit(1),
);

/** `userId`: the user whose entries to read; null for all. */
interface OwnerFilter {
  readonly userId: WaitlistEntry["userId"] | null;
}

export const entriesByIds = statement<{ ids: readonly WaitlistEntry["id"][] } & OwnerFilter>()(
  (db, t, p, dialect) =>
    entriesWithFlights(db, t).where(
      and(
        dialect.among(t.waitlist.id, p.ids),
        sql`coalesce(${p.userId}, ${t.waitlist.userId}) = ${t.waitlist.userId}`,
      ),
    ),
);

/** How many wait before each of these that waits. */
export const waitingBefore = statement<{ ids: readonly WaitlistEntry["id"][]; now: Date }>()((
  db,
  t,
  p,
  dialect,
) => {
  const { id, flightId, place, until } = t.waitlist;
  const before = sql<number>`(select count(*) from ${t.waitlist} as other where other.flight_id = ${flightId} and other.status = 'waiting' and other.place < ${place} and other.until > ${encoded(p.now, until)})`;
  return db
    .select({ id, before: before.mapWith(Number) })
    .from(t.waitlist)
    .innerJoin(t.flights, eq(t.flights.id, flightId))
    .where(and(dialect.among(id, p.ids), isWaiting(t)));
});

export const waitlistPages = pagesOver(tables)<EntryOnFlight, "userId" | "flightId" | "status">({
  table: (t) => t.waitlist,
  indexed: ["userId", "flightId"],
  conditions: {
    // Given as text. An id may be beyond the range of the column.
    flightId: ({ waitlist }, value) => sql`${waitlist.flightId} = cast(${value} as bigint)`,
  },
  select: entriesWithFlights,
});
