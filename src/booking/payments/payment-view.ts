import { moneyOf } from "../../base/money.ts";
import type { Storage } from "../../db/storage.ts";
import { refundStatus } from "../model/booking-state.ts";
import type { Booking } from "../model/booking.ts";
import { type Payment, paymentStatuses, payoutStatuses } from "../model/payment.ts";

import type { PaymentView, RefundProgress, RefundSums } from "./payment.schema.ts";
import { paymentsOfBookings } from "./payments.sql.ts";

/** The money of a booking: what was paid and refunded, as far as providers reported it. */
export interface MoneyView {
  /** Oldest first. */
  readonly payments: readonly PaymentView[];
  /** Null if no refund is due and none was reported: its status would be `none`. */
  readonly refund: RefundProgress | null;
}

/** What the list of bookings does not show of their payment. */
export interface BookingMoney extends MoneyView, Pick<Booking, "paymentMethod"> {}

export function moneyView(booking: Booking, records: readonly Payment[]): MoneyView {
  const payments = records.flatMap((record) => {
    const status = paymentStatuses.find((one) => one === record.outcome);
    return status === undefined ? [] : [{ ...shown(record), status }];
  });
  const payouts = records.flatMap((record) => {
    const status = payoutStatuses.find((one) => one === record.outcome);
    return status === undefined ? [] : [{ ...shown(record), status }];
  });
  const refund = refundSums(booking);
  if (refund.status === "none" && payouts.length === 0) return { payments, refund: null };
  return { payments, refund: { ...refund, payouts } };
}

/** What is due to be refunded, and what was. */
export function refundSums(booking: Booking): RefundSums {
  const { currency } = booking;
  return {
    amount: moneyOf(booking.refundDueMinor, currency).amount,
    refunded: moneyOf(booking.refundedMinor, currency).amount,
    currency,
    status: refundStatus(booking),
  };
}

/** The recorded payments and refunds of a booking, oldest first. */
export async function paymentsOf(
  storage: Storage,
  { id, paymentCount }: Booking,
): Promise<readonly Payment[]> {
  return paymentCount === 0 ? [] : storage.all(paymentsOfBookings, { ids: [id] });
}

function shown({ amountMinor, currency, provider, createdAt, eventId }: Payment) {
  const amount =
    amountMinor === null || currency === null ? null : moneyOf(amountMinor, currency).amount;
  return { amount, currency, provider, createdAt, eventId };
}
