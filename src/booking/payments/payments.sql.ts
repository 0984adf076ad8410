import { and, asc, desc, eq, isNotNull, sql } from "drizzle-orm";

import { allColumns, columnsOf, statementsOver } from "../../db/statement.ts";
import { type Booking, bookingsTable } from "../model/booking.ts";
import { contendedBooking } from "../model/bookings.sql.ts";
import { type Payment, paymentsTable } from "../model/payment.ts";

const statement = statementsOver({ bookings: bookingsTable, payments: paymentsTable });

export const insertPayment = statement<Payment>()((db, { payments }) =>
  db.insert(payments).values(allColumns(payments)).onConflictDoNothing(),
);

/**
 * Counts a payment event of a booking. Touches no row if its status, price or flight changed or another one was
 * recorded since it was read, so that what was decided from it still holds.
 */
export const countPayment = statement<
  Pick<Booking, "id" | "status" | "revision" | "paymentCount">
>()(
  (db, { bookings }, p) =>
    db
      .update(bookings)
      .set({ paymentCount: sql`${bookings.paymentCount} + 1` })
      .where(
        and(
          eq(bookings.id, p.id),
          eq(bookings.status, p.status),
          eq(bookings.revision, p.revision),
          eq(bookings.paymentCount, p.paymentCount),
        ),
      ),
  { contended: contendedBooking },
);

/**
 * Sets what was refunded of a booking. The database rejects more than was charged. Touches no row if nothing was:
 * PostgreSQL receives this statement before it answers the one that confirms, which may have come too late.
 */
export const setRefunded = statement<Pick<Booking, "id" | "refundedMinor" | "updatedAt">>()(
  (db, { bookings }, p) =>
    db
      .update(bookings)
      .set({ refundedMinor: p.refundedMinor, updatedAt: p.updatedAt })
      .where(and(eq(bookings.id, p.id), sql`${bookings.chargedMinor} > 0`)),
);

/** Counts the refunds of a payment that were recorded before it. */
export const countEarlyRefunds = statement<
  Pick<Payment, "bookingId" | "provider" | "reference" | "currency">
>()((db, { payments }, p) => {
  const refunded: Payment["outcome"] = "refunded";
  const unmatched: Payment["outcome"] = "unmatched";
  return db
    .update(payments)
    .set({ outcome: refunded })
    .where(
      and(
        eq(payments.bookingId, p.bookingId),
        eq(payments.provider, p.provider),
        eq(payments.reference, p.reference),
        eq(payments.currency, p.currency),
        eq(payments.outcome, unmatched),
        isNotNull(payments.amountMinor),
      ),
    );
});

/** The payment events of bookings, oldest first. */
export const paymentsOfBookings = statement<{ ids: readonly Booking["id"][] }>()(
  (db, { payments }, p, dialect) =>
    db
      .select(columnsOf(payments))
      .from(payments)
      .where(dialect.among(payments.bookingId, p.ids))
      .orderBy(asc(payments.createdAt), asc(payments.eventId)),
);

/** The bookings that name a provider's payment; first the one that it paid for. */
export const paymentsByReference = statement<{ provider: string; reference: string }>()(
  (db, { payments }, p) =>
    db
      .select({ bookingId: payments.bookingId, outcome: payments.outcome })
      .from(payments)
      .where(and(eq(payments.provider, p.provider), eq(payments.reference, p.reference)))
      .orderBy(
        desc(sql`case when ${payments.outcome} in ('confirmed', 'changed') then 1 else 0 end`),
      )
      .limit(1),
);
