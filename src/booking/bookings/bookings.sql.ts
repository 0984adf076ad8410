import { and, asc, eq, sql } from "drizzle-orm";

import { type Booking, type Passenger, bookingsTable, passengersTable } from "../booking.ts";
import { type Flight, flightsTable } from "../flight.ts";

import { pagesOver } from "../../db/keyset.ts";
import { allColumns, columnsExcept, type Parameters, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";

const tables = {
  bookings: bookingsTable,
  passengers: passengersTable,
  flights: flightsTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** A booking with its flight. */
export interface BookingOnFlight extends Booking {
  readonly flight: Flight;
}

function bookingColumns({ bookings, flights }: Tables) {
  return {
    ...columnsExcept(bookings, {}),
    flight: columnsExcept(flights, {}),
  } satisfies Record<keyof BookingOnFlight, unknown>;
}

/** Touches no row when the reference is taken. */
export const insertBooking = statement<Booking>()((db, { bookings }) =>
  db.insert(bookings).values(allColumns(bookings)).onConflictDoNothing(),
);

export const insertPassenger = statement<Passenger>()((db, { passengers }) =>
  db.insert(passengers).values(allColumns(passengers)),
);

/** `userId`: the owner whose bookings to read; null for all owners. */
interface OwnerFilter {
  readonly userId: Booking["userId"] | null;
}

export const bookingById = statement<Pick<Booking, "id"> & OwnerFilter>()((db, t, p) =>
  db
    .select(bookingColumns(t))
    .from(t.bookings)
    .innerJoin(t.flights, eq(t.flights.id, t.bookings.flightId))
    .where(and(eq(t.bookings.id, p.id), belongsTo(t, p)))
    .limit(1),
);

export const bookingsByIds = statement<{ ids: readonly Booking["id"][] } & OwnerFilter>()(
  (db, t, p, dialect) =>
    db
      .select(bookingColumns(t))
      .from(t.bookings)
      .innerJoin(t.flights, eq(t.flights.id, t.bookings.flightId))
      .where(and(dialect.among(t.bookings.id, p.ids), belongsTo(t, p))),
);

/** The passengers of many bookings at once. */
export const passengersOfBookings = statement<{ ids: readonly Booking["id"][] } & OwnerFilter>()((
  db,
  t,
  p,
  dialect,
) => {
  const { bookingId, position } = t.passengers;
  return db
    .select(columnsExcept(t.passengers, {}))
    .from(t.passengers)
    .innerJoin(t.bookings, eq(t.bookings.id, bookingId))
    .where(and(dialect.among(bookingId, p.ids), belongsTo(t, p)))
    .orderBy(asc(bookingId), asc(position));
});

function belongsTo({ bookings }: Tables, { userId }: Parameters<OwnerFilter>) {
  return sql`coalesce(${userId}, ${bookings.userId}) = ${bookings.userId}`;
}

/** Cancels a confirmed booking. Touches no row when it is already cancelled. */
export const cancelBooking = statement<
  Pick<
    Booking,
    "id" | "updatedAt" | "cancelledAt" | "refundMinor" | "refundPercent" | "refundReason"
  >
>()((db, { bookings }, p) =>
  db
    .update(bookings)
    .set({
      status: "cancelled",
      updatedAt: p.updatedAt,
      cancelledAt: p.cancelledAt,
      refundMinor: p.refundMinor,
      refundPercent: p.refundPercent,
      refundReason: p.refundReason,
    })
    .where(and(eq(bookings.id, p.id), eq(bookings.status, "confirmed"))),
);

export const bookingPages = pagesOver(tables)<
  BookingOnFlight,
  "userId" | "reference" | "contactEmail"
>({
  table: (t) => t.bookings,
  ignoringCase: "contactEmail",
  select: (db, t) =>
    db
      .select(bookingColumns(t))
      .from(t.bookings)
      .innerJoin(t.flights, eq(t.flights.id, t.bookings.flightId)),
});
