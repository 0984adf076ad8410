import { defineTable } from "../db/table.ts";
import type { Event } from "../event/event.ts";

import type { Booking } from "./booking.ts";

/**
 * What came of an event about a booking's payment. Payments: `confirmed` the booking; `mismatch`: another
 * amount or currency than the price; `unseated`: paid too late, and no seats are left; `surplus`: the booking was paid
 * before; `failed`. Refunds: `refunded`; `overrefunded`: more than was paid, not counted; `unmatched`: of
 * another payment than the one that confirmed the booking, or in another currency.
 */
const paymentOutcomes = [
  "confirmed",
  "mismatch",
  "unseated",
  "surplus",
  "failed",
  "refunded",
  "overrefunded",
  "unmatched",
] as const;
export type PaymentOutcome = (typeof paymentOutcomes)[number];

/** An event about a booking's payment. */
export interface Payment {
  /** The provider's event. Kept after retention has deleted the event. */
  readonly eventId: Event["id"];
  readonly bookingId: Booking["id"];
  readonly provider: string;
  /** The provider's id of the payment. */
  readonly reference: string | null;
  /** In minor units. A refund's is the sum of all refunds of the payment so far. Null if it cannot be read. */
  readonly amountMinor: number | null;
  /** ISO 4217 code; null if it cannot be read. */
  readonly currency: string | null;
  /** The amount for people. */
  readonly amount: string;
  readonly outcome: PaymentOutcome;
  /** Time of receipt. */
  readonly createdAt: Date;
}

export const paymentsTable = defineTable<Payment>("payments", {
  eventId: "text",
  bookingId: "text",
  provider: "text",
  reference: "text or null",
  amountMinor: "bigint or null",
  currency: "text or null",
  amount: "text",
  outcome: "text",
  createdAt: "instant",
});
