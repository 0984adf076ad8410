import { and, asc, desc, eq, isNull, lte, type SQL, sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import { columnsOf, statementsOver } from "../../db/statement.ts";
import { type Booking, bookingsTable } from "../booking.ts";
import {
  type FlightChange,
  type FlightChangeNotice,
  flightChangeNoticesTable,
  flightChangesTable,
} from "../flight-change.ts";
import { type Flight, flightsTable } from "../flight.ts";

import { bookingColumns, type BookingOnFlight } from "./bookings.sql.ts";

const tables = {
  notices: flightChangeNoticesTable,
  changes: flightChangesTable,
  bookings: bookingsTable,
  flights: flightsTable,
};
const statement = statementsOver(tables);

/** Those of a booking are sent and answered at the same time, in groups. */
const contended = ({ bookingId }: Pick<FlightChangeNotice, "bookingId">) => ({
  table: flightChangeNoticesTable,
  ids: [bookingId],
});

type Answer = Pick<FlightChangeNotice, "bookingId" | "status" | "answeredAt" | "answeredBy">;

/** The newest change of a booking's flight that its owner has not answered. */
export const openNotice = statement<Pick<FlightChangeNotice, "bookingId">>()((db, { notices }, p) =>
  db
    .select(columnsOf(notices))
    .from(notices)
    .where(and(eq(notices.bookingId, p.bookingId), sql`${notices.status} = 'unanswered'`))
    .orderBy(desc(notices.changeId))
    .limit(1),
);

/** Answers all changes of a booking's flight. Touches no row if none is unanswered. */
export const settleFlightChange = statement<Answer>()(
  (db, { notices }, p) =>
    db
      .update(notices)
      .set({ status: p.status, answeredAt: p.answeredAt, answeredBy: p.answeredBy })
      .where(and(eq(notices.bookingId, p.bookingId), sql`${notices.status} = 'unanswered'`)),
  { contended },
);

/** Accepts the changes of a booking's flight up to one: a newer one may not be known to who accepts. */
export const acceptFlightChange = statement<
  Pick<FlightChangeNotice, "bookingId" | "answeredAt" | "answeredBy"> & {
    readonly upTo: FlightChangeNotice["changeId"];
  }
>()(
  (db, { notices }, p) =>
    db
      .update(notices)
      .set({ status: "accepted", answeredAt: p.answeredAt, answeredBy: p.answeredBy })
      .where(
        and(
          eq(notices.bookingId, p.bookingId),
          sql`${notices.status} = 'unanswered'`,
          lte(notices.changeId, p.upTo),
        ),
      ),
  { contended },
);

/**
 * Returns a row if `openChangeId` is still the newest unanswered change of the booking's flight; empty: none is unanswered.
 * Run it after the statement that changes the flight's seats, which waits for an import that changes the flight.
 */
export const sameOpenChange = statement<Pick<Booking, "id"> & { openChangeId: string }>()(
  (db, { notices, bookings }, p) =>
    db
      .select({ id: bookings.id })
      .from(bookings)
      .where(
        and(
          eq(bookings.id, p.id),
          sql`coalesce((select max(${notices.changeId}) from ${notices} where ${notices.bookingId} = ${p.id} and ${notices.status} = 'unanswered'), '') = ${p.openChangeId}`,
        ),
      ),
);

/** A change of a booking's flight, with what was answered. */
export interface NoticeOfBooking extends FlightChangeNotice {
  readonly change: FlightChange;
  readonly booking: Pick<Booking, "status">;
  readonly flight: Pick<Flight, "flightNumber" | "departureTime" | "cancelledAt">;
}

/** The changes of the flights of bookings, oldest first. `userId`: the owner whose bookings to read; null for all owners. */
export const noticesOfBookings = statement<{
  readonly ids: readonly Booking["id"][];
  readonly userId: Booking["userId"] | null;
}>()((db, t, p, dialect) => {
  const { notices, changes, bookings, flights } = t;
  const { flightNumber, departureTime, cancelledAt } = flights;
  return db
    .select({
      ...columnsOf(notices),
      change: columnsOf(changes),
      booking: { status: bookings.status },
      flight: { flightNumber, departureTime, cancelledAt },
    } satisfies Record<keyof NoticeOfBooking, unknown>)
    .from(notices)
    .innerJoin(changes, eq(changes.id, notices.changeId))
    .innerJoin(bookings, eq(bookings.id, notices.bookingId))
    .innerJoin(flights, eq(flights.id, changes.flightId))
    .where(
      and(
        dialect.among(notices.bookingId, p.ids),
        sql`coalesce(${p.userId}, ${bookings.userId}) = ${bookings.userId}`,
      ),
    )
    .orderBy(asc(notices.bookingId), asc(notices.changeId));
});

/** A booking whose owner was not notified of a change yet. */
export interface UnsentNotice extends BookingOnFlight {
  readonly change: FlightChange;
}

export const unsentNotices = statement<{ limit: number }>()((db, t, p) => {
  const { bookingId, changeId, notifiedAt } = t.notices;
  return (
    db
      .select({ ...bookingColumns(t), change: columnsOf(t.changes) } satisfies Record<
        keyof UnsentNotice,
        unknown
      >)
      .from(t.notices)
      .innerJoin(t.changes, eq(t.changes.id, changeId))
      .innerJoin(t.bookings, eq(t.bookings.id, bookingId))
      // Not the booking's flight, which may be another one by now.
      .innerJoin(t.flights, eq(t.flights.id, t.changes.flightId))
      .where(isNull(notifiedAt))
      .orderBy(asc(changeId), asc(bookingId))
      .limit(p.limit)
  );
});

/** Touches no row if another instance has notified the booking. */
export const markNotified = statement<
  Pick<FlightChangeNotice, "changeId" | "bookingId"> & { readonly notifiedAt: Date }
>()(
  (db, { notices }, p) =>
    db
      .update(notices)
      .set({ notifiedAt: p.notifiedAt })
      .where(
        and(
          eq(notices.bookingId, p.bookingId),
          eq(notices.changeId, p.changeId),
          isNull(notices.notifiedAt),
        ),
      ),
  { contended },
);

/** A change of a flight with bookings, and how many. */
export interface CountedChange extends FlightChange, Pick<Flight, "flightNumber" | "cabinClass"> {
  readonly bookings: number;
  readonly notified: number;
  readonly unanswered: number;
  readonly accepted: number;
}

/** `booked`: only changes that affect bookings. */
export const flightChangePages = pagesOver(tables)<CountedChange, "booked">({
  table: ({ changes }) => ({ ...columnsOf(changes), booked: changes.id }),
  conditions: {
    booked: ({ changes, notices }) =>
      sql`(select 1 from ${notices} where ${notices.changeId} = ${changes.id} limit 1) is not null`,
  },
  select(db, { notices, changes, bookings, flights }) {
    const ofChange = sql`from ${notices} where ${notices.changeId} = ${changes.id}`;
    const number = (query: SQL) => sql<number>`(select count(*) ${query})`.mapWith(Number);
    const isUnanswered = sql`${notices.status} = 'unanswered' and exists (select 1 from ${bookings} where ${bookings.id} = ${notices.bookingId} and ${bookings.status} in ('held', 'confirmed'))`;
    return db
      .select({
        ...columnsOf(changes),
        flightNumber: flights.flightNumber,
        cabinClass: flights.cabinClass,
        bookings: number(ofChange),
        notified: number(sql`${ofChange} and ${notices.notifiedAt} is not null`),
        unanswered: number(sql`${ofChange} and ${isUnanswered}`),
        accepted: number(sql`${ofChange} and ${notices.status} = 'accepted'`),
      } satisfies Record<keyof CountedChange, unknown>)
      .from(changes)
      .innerJoin(flights, eq(flights.id, changes.flightId));
  },
});
