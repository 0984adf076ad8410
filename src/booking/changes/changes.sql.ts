import { and, asc, desc, eq, sql } from "drizzle-orm";

import { allColumns, columnsOf, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { type BookingChange, bookingChangesTable } from "../model/booking-change.ts";
import { type Booking, bookingsTable, type Passenger, passengersTable } from "../model/booking.ts";
import { contendedBooking } from "../model/bookings.sql.ts";
import { flightsTable } from "../model/flight.ts";

const tables = {
  changes: bookingChangesTable,
  bookings: bookingsTable,
  passengers: passengersTable,
};
const statement = statementsOver(tables);

/** The limit of offers for a booking. */
export const maxOffers = 100;

/** Whether an offer holds its seats. */
export function isOpen({ status }: Pick<BookingChange, "status">): boolean {
  return status === "offered" || status === "pending";
}

function whereOpen({ changes }: Pick<TablesOf<typeof tables>, "changes">) {
  return sql`${changes.status} in ('offered', 'pending')`;
}

export const insertChange = statement<BookingChange>()((db, { changes }) =>
  db.insert(changes).values(allColumns(changes)),
);

export const changeById = statement<Pick<BookingChange, "id" | "bookingId">>()(
  (db, { changes }, p) =>
    db
      .select()
      .from(changes)
      .where(and(eq(changes.id, p.id), eq(changes.bookingId, p.bookingId))),
);

/** The changes of bookings, newest first. */
export const changesOfBookings = statement<{ ids: readonly Booking["id"][]; limit: number }>()(
  (db, { changes }, p, dialect) =>
    db
      .select(columnsOf(changes))
      .from(changes)
      .where(dialect.among(changes.bookingId, p.ids))
      .orderBy(desc(changes.createdAt), desc(changes.id))
      .limit(p.limit),
);

/** The changes that were made of a booking, oldest first. */
export const madeChanges = statement<Pick<BookingChange, "bookingId">>()((db, { changes }, p) =>
  db
    .select(columnsOf(changes))
    .from(changes)
    .where(and(eq(changes.bookingId, p.bookingId), sql`${changes.status} = 'confirmed'`))
    .orderBy(asc(changes.confirmedAt), asc(changes.id)),
);

/** The open offers of bookings: one of each at most. */
export const openChangesOf = statement<{ ids: readonly Booking["id"][] }>()((db, t, p, dialect) =>
  db
    .select(columnsOf(t.changes))
    .from(t.changes)
    .where(and(dialect.among(t.changes.bookingId, p.ids), whereOpen(t))),
);

/** An import that changes one of these flights ends an offer too. */
function flightsOf({ flightId, newFlightId }: Pick<BookingChange, "flightId" | "newFlightId">) {
  return {
    table: flightsTable,
    ids: newFlightId === null ? [flightId] : [flightId, newFlightId],
  };
}

type Ending = Pick<
  BookingChange,
  "id" | "status" | "flightId" | "newFlightId" | "updatedAt" | "confirmedAt"
> & { readonly from: BookingChange["status"] };

/** Ends an open offer. Touches no row if its status is no longer `from`. */
export const endChange = statement<Ending>()(
  (db, { changes }, p) =>
    db
      .update(changes)
      .set({ status: p.status, updatedAt: p.updatedAt, confirmedAt: p.confirmedAt })
      .where(and(eq(changes.id, p.id), eq(changes.status, p.from))),
  { contended: flightsOf },
);

/** Makes an offer wait for its payment. Touches no row if it has ended. */
export const awaitPayment = statement<
  Pick<BookingChange, "id" | "flightId" | "newFlightId" | "updatedAt" | "expiresAt">
>()(
  (db, { changes }, p) =>
    db
      .update(changes)
      .set({ status: "pending", updatedAt: p.updatedAt, expiresAt: p.expiresAt })
      .where(and(eq(changes.id, p.id), sql`${changes.status} = 'offered'`)),
  { contended: flightsOf },
);

/** A booking after a change. `revision`: the one that was read. */
type Revision = Pick<
  Booking,
  | "id"
  | "userId"
  | "status"
  | "revision"
  | "flightId"
  | "flightRevision"
  | "seats"
  | "totalMinor"
  | "chargedMinor"
  | "paidMinor"
  | "refundDueMinor"
  | "keptMinor"
  | "updatedAt"
>;

/**
 * Changes a booking. Touches no row if its owner, its status or its revision is no longer the one that was read, so that the sums
 * that were made from it are right.
 */
export const reviseBooking = statement<Revision>()(
  (db, { bookings }, p) =>
    db
      .update(bookings)
      .set({
        flightId: p.flightId,
        flightRevision: p.flightRevision,
        seats: p.seats,
        totalMinor: p.totalMinor,
        chargedMinor: p.chargedMinor,
        paidMinor: p.paidMinor,
        refundDueMinor: p.refundDueMinor,
        keptMinor: p.keptMinor,
        revision: sql`${bookings.revision} + 1`,
        updatedAt: p.updatedAt,
      })
      .where(
        and(
          eq(bookings.id, p.id),
          eq(bookings.userId, p.userId),
          eq(bookings.status, p.status),
          eq(bookings.revision, p.revision),
        ),
      ),
  { contended: contendedBooking },
);

export const cancelPassenger = statement<
  Pick<Passenger, "bookingId" | "position" | "cancelledAt">
>()((db, { passengers }, p) =>
  db
    .update(passengers)
    .set({ cancelledAt: p.cancelledAt })
    .where(and(eq(passengers.bookingId, p.bookingId), eq(passengers.position, p.position))),
);

/** Touches no row if the passenger was cancelled or corrected since it was read. */
export const correctPassenger = statement<Omit<Passenger, "cancelledAt">>()(
  (db, { passengers }, p) =>
    db
      .update(passengers)
      .set({
        firstName: p.firstName,
        lastName: p.lastName,
        lastNameFolded: p.lastNameFolded,
        email: p.email,
        sealed: p.sealed,
        corrections: sql`${passengers.corrections} + 1`,
      })
      .where(
        and(
          eq(passengers.bookingId, p.bookingId),
          eq(passengers.position, p.position),
          eq(passengers.corrections, p.corrections),
          sql`${passengers.cancelledAt} is null`,
        ),
      ),
  { contended: ({ bookingId }) => contendedBooking({ id: bookingId }) },
);
