import { moneyOf } from "../../base/money.ts";
import { refundDue, type RefundStatus, refundStatus } from "../booking-state.ts";
import type { Booking } from "../booking.ts";
import type { Payment } from "../payment.ts";

export const paymentStatuses = ["confirmed", "mismatch", "unseated", "surplus", "failed"] as const;
export const payoutStatuses = ["refunded", "overrefunded", "unmatched"] as const;

/** A payment that a provider reported. */
export interface PaymentView extends Pick<Payment, "eventId" | "provider" | "createdAt"> {
  /** In major units; null if it cannot be read. */
  readonly amount: number | null;
  /** ISO 4217 code; null if it cannot be read. */
  readonly currency: string | null;
  readonly status: (typeof paymentStatuses)[number];
}

/** A refund that a provider reported. */
export interface PayoutView extends Omit<PaymentView, "status"> {
  readonly status: (typeof payoutStatuses)[number];
}

/** What is to be refunded, and what was. */
export interface RefundProgress {
  /** What is due, in major units. */
  readonly amount: number;
  /** What was refunded of the payment so far, in major units. */
  readonly refunded: number;
  readonly currency: string;
  readonly status: RefundStatus;
  /** Oldest first. The amount of each is the sum of all refunds of its payment so far. */
  readonly payouts: readonly PayoutView[];
}

/** The money of a booking: what was paid and refunded, as far as providers reported it. */
export interface MoneyView {
  /** Oldest first. */
  readonly payments: readonly PaymentView[];
  /** Null if no refund is due and none was reported: its status would be `none`. */
  readonly refund: RefundProgress | null;
}

export function moneyView(booking: Booking, records: readonly Payment[]): MoneyView {
  const payments = records.flatMap((record) => {
    const status = paymentStatuses.find((one) => one === record.outcome);
    return status === undefined ? [] : [{ ...shown(record), status }];
  });
  const payouts = records.flatMap((record) => {
    const status = payoutStatuses.find((one) => one === record.outcome);
    return status === undefined ? [] : [{ ...shown(record), status }];
  });
  const status = refundStatus(booking);
  if (status === "none" && payouts.length === 0) return { payments, refund: null };
  const { currency } = booking;
  const refund: RefundProgress = {
    amount: moneyOf(refundDue(booking), currency).amount,
    refunded: moneyOf(booking.refundedMinor, currency).amount,
    currency,
    status,
    payouts,
  };
  return { payments, refund };
}

function shown({ amountMinor, currency, provider, createdAt, eventId }: Payment) {
  const amount =
    amountMinor === null || currency === null ? null : moneyOf(amountMinor, currency).amount;
  return { amount, currency, provider, createdAt, eventId };
}
