import { defineTable, type Stored } from "../../db/table.ts";
import { eventFields } from "../../event/event.ts";
import { prefixedId, word } from "../../web/schema.ts";

/**
 * What came of an event about a payment: `confirmed` the booking; `changed`: it paid for a change; `mismatch`: another
 * amount or currency than the price; `unseated`: paid too late, and no seats are left; `surplus`: the booking was paid
 * before; `failed`; `disputed`: the customer's bank wants it back.
 */
export const paymentStatuses = [
  "confirmed",
  "changed",
  "mismatch",
  "unseated",
  "surplus",
  "failed",
  "disputed",
] as const;

/**
 * What came of an event about a refund: `refunded`; `refund_failed`; `corrected`: an admin lowered the sum; `overrefunded`: more than was paid, not counted; `unmatched`: of
 * another payment than the one that confirmed the booking, or in another currency.
 */
export const payoutStatuses = [
  "refunded",
  "refund_failed",
  "corrected",
  "overrefunded",
  "unmatched",
] as const;

const paymentOutcomes = [...paymentStatuses, ...payoutStatuses] as const;
export type PaymentOutcome = (typeof paymentOutcomes)[number];

/** Events about bookings' payments. */
export const paymentsTable = defineTable(
  "payments",
  {
    /** The provider's event, or ours about a refund that an admin recorded. Kept after retention has deleted the event. */
    eventId: eventFields.id,
    bookingId: prefixedId("bk_"),
    provider: "text: none",
    /** The provider's id of the payment. */
    reference: "text or null: pseudonym",
    /** In minor units. A refund's is the sum of all refunds of the payment so far, a failed one's its own. Null if it cannot be read. */
    amountMinor: "bigint or null",
    /** ISO 4217 code; null if it cannot be read. */
    currency: "text or null: none",
    /** The amount for people. */
    amount: "text: none",
    outcome: word(paymentOutcomes),
    /** Time of receipt. */
    createdAt: "instant",
    /** When it happened, by the provider's clock. */
    occurredAt: "instant",
    /** The admin who recorded a refund; null for an event of a provider. */
    actor: "text or null: pseudonym",
    /** What the admin wrote, how a dispute stands, or why a refund failed. */
    note: "text or null: text",
    /** The provider's id of a refund that failed, or of a dispute. */
    part: "text or null: pseudonym",
  },
  ["eventId"],
);

export interface Payment extends Stored<typeof paymentsTable> {}

/** Whether a payment confirmed a booking or paid for a change. */
export function hasCounted<Record extends Pick<Payment, "outcome">>(
  record: Record | undefined,
): record is Record {
  return record?.outcome === "confirmed" || record?.outcome === "changed";
}
