import { and, asc, eq, lte, sql } from "drizzle-orm";

import {
  allColumns,
  columnsOf,
  encoded,
  type Parameters,
  statementsOver,
} from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";

import { type TransitionName, transitions } from "./booking-state.ts";
import { type Booking, bookingsTable, type Passenger, passengersTable } from "./booking.ts";
import { type Flight, flightsTable } from "./flight.ts";

const tables = {
  bookings: bookingsTable,
  passengers: passengersTable,
  flights: flightsTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/**
 * Requests and payments may change the same bookings in other instances. Cancellations and expiries wait for each other at
 * the flight.
 */
export const contendedBooking = ({ id }: Pick<Booking, "id">) => ({
  table: bookingsTable,
  ids: [id],
});

/** A booking with its flight. */
export interface BookingOnFlight extends Booking {
  readonly flight: Flight;
}

export function bookingColumns({ bookings, flights }: Pick<Tables, "bookings" | "flights">) {
  return {
    ...columnsOf(bookings),
    flight: columnsOf(flights),
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

export const bookingByReference = statement<Pick<Booking, "reference">>()((db, t, p) =>
  db
    .select(bookingColumns(t))
    .from(t.bookings)
    .innerJoin(t.flights, eq(t.flights.id, t.bookings.flightId))
    .where(eq(t.bookings.reference, p.reference))
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
    .select(columnsOf(t.passengers))
    .from(t.passengers)
    .innerJoin(t.bookings, eq(t.bookings.id, bookingId))
    .where(and(dialect.among(bookingId, p.ids), belongsTo(t, p)))
    .orderBy(asc(bookingId), asc(position));
});

/** The first passenger of each booking. */
export const leadPassengers = statement<{ ids: readonly Booking["id"][] }>()((
  db,
  t,
  p,
  dialect,
) => {
  const { bookingId, position, firstName, lastName } = t.passengers;
  return db
    .select({ bookingId, firstName, lastName })
    .from(t.passengers)
    .where(and(dialect.among(bookingId, p.ids), eq(position, 1)));
});

function belongsTo({ bookings }: Tables, { userId }: Parameters<OwnerFilter>) {
  return sql`coalesce(${userId}, ${bookings.userId}) = ${bookings.userId}`;
}

/** The booking has the status that a transition starts from. */
function startsAt({ bookings }: Tables, name: Exclude<TransitionName, "book" | "hold">) {
  return eq(bookings.status, transitions[name].from);
}

/** The revision after a change of the status. It stays 0 while there were no offers: then readers look for none. */
function endingOffers({ bookings: { revision } }: Tables) {
  return sql`case when ${revision} = 0 then 0 else ${revision} + 1 end`;
}

type Cancelling = Pick<
  Booking,
  "id" | "revision" | "updatedAt" | "cancelledAt" | "refundMinor" | "refundPercent" | "refundReason"
>;

const cancelling = (name: "cancel" | "release") =>
  statement<Cancelling>()((db, t, p) =>
    db
      .update(t.bookings)
      .set({
        status: transitions[name].to,
        updatedAt: p.updatedAt,
        cancelledAt: p.cancelledAt,
        refundMinor: p.refundMinor,
        refundPercent: p.refundPercent,
        refundReason: p.refundReason,
        refundDueMinor: sql`${t.bookings.refundDueMinor} + ${p.refundMinor}`,
        // The refund for a flight that the airline changed may include what was non-refundable.
        keptMinor: sql`case when ${t.bookings.keptMinor} + ${t.bookings.refundDueMinor} + ${p.refundMinor} > ${t.bookings.chargedMinor} then ${t.bookings.chargedMinor} - ${t.bookings.refundDueMinor} - ${p.refundMinor} else ${t.bookings.keptMinor} end`,
        revision: sql`${t.bookings.revision} + 1`,
      })
      .where(and(eq(t.bookings.id, p.id), eq(t.bookings.revision, p.revision), startsAt(t, name))),
  );

/** Cancels a confirmed booking. Touches no row when it is not confirmed. */
export const cancelBooking = cancelling("cancel");

/** Cancels a held booking. Touches no row when it is not held. */
export const releaseHold = cancelling("release");

const confirming = (name: "pay" | "reseat") =>
  statement<Pick<Booking, "id" | "updatedAt" | "confirmedAt">>()((db, t, p) =>
    db
      .update(t.bookings)
      .set({
        status: transitions[name].to,
        updatedAt: p.updatedAt,
        confirmedAt: p.confirmedAt,
        chargedMinor: sql`${t.bookings.totalMinor}`,
        paidMinor: sql`${t.bookings.totalMinor}`,
        // An offer that was made before the payment refunds nothing.
        revision: endingOffers(t),
      })
      .where(and(eq(t.bookings.id, p.id), startsAt(t, name))),
  );

/** Confirms a held booking. Touches no row when it is not held, for example because it has expired. */
export const confirmHold = confirming("pay");

/** Confirms an expired booking whose seats were taken again in the same transaction. */
export const reseatBooking = confirming("reseat");

/** Ends a hold. Touches no row when it is not held, or not due. */
export const expireHold = statement<Pick<Booking, "id" | "revision" | "updatedAt" | "expiredAt">>()(
  (db, t, p) =>
    db
      .update(t.bookings)
      .set({
        status: transitions.expire.to,
        updatedAt: p.updatedAt,
        expiredAt: p.expiredAt,
        // An offer to cancel a part of the hold ends: its seats are released.
        revision: endingOffers(t),
      })
      .where(
        and(
          eq(t.bookings.id, p.id),
          eq(t.bookings.revision, p.revision),
          startsAt(t, "expire"),
          lte(t.bookings.expiresAt, encoded(p.expiredAt, t.bookings.expiresAt)),
        ),
      ),
);
