import type { PaymentNotice } from "../../inbound/model/payment-notice.ts";
import { hasCounted, type Payment, type PaymentOutcome } from "../model/payment.ts";

/** Whether a notice is about a payment that succeeded before, of which a booking may have no record. */
export function followsPayment({ kind }: PaymentNotice): boolean {
  return kind === "refunded" || kind === "refund_failed" || kind === "disputed";
}

/** The record of a notice, as far as its sum depends on it. */
export function asReport(notice: PaymentNotice, outcome: PaymentOutcome) {
  const { amountMinor, currency, atMs } = notice;
  // Without a time, it is the last one.
  const occurredAt = new Date(atMs ?? 8.64e15);
  return { ...asPayment(notice), outcome, amountMinor, currency, occurredAt };
}

/** The payment of a notice, as records name it. */
export function asPayment({ provider, payment }: PaymentNotice): PaymentName {
  return { provider, reference: payment };
}

type PaymentName = Pick<Payment, "provider" | "reference">;

/** Compares by provider and reference. All payments without a reference are the same. */
export function isSamePayment(one: PaymentName, other: PaymentName): boolean {
  return one.provider === other.provider && one.reference === other.reference;
}

/** Whether a notice is about this payment, which counted. */
export function isPaidBy(record: Payment, notice: PaymentNotice): boolean {
  return hasCounted(record) && isSamePayment(record, asPayment(notice));
}

/** The earlier events about the payment of a notice; none if it has no id. */
export function recordsOf(records: readonly Payment[], { provider, payment }: PaymentNotice) {
  return payment === null
    ? []
    : records.filter((record) => record.reference === payment && record.provider === provider);
}

/**
 * Whether a recorded refund is one of this payment, which arrives after it. `isOfChange`: the refund may have been taken for
 * one of the booking's own payment, which no event had reported.
 */
export function isEarlyRefund(
  record: Payment,
  notice: PaymentNotice,
  isOfChange: boolean,
): boolean {
  const { outcome, amountMinor, currency } = record;
  const isRefund = outcome === "refunded" || outcome === "overrefunded";
  return (
    (outcome === "unmatched" || (isOfChange && isRefund)) &&
    amountMinor !== null &&
    currency === notice.currency
  );
}
