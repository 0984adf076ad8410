import { moneyOf, moneyText } from "../../base/money.ts";
import type { PaymentNotice } from "../../inbound/model/payment-notice.ts";
import type { PaymentProblem } from "../events/event-types.ts";
import type { BookingChange } from "../model/booking-change.ts";
import type { Booking } from "../model/booking.ts";
import { hasCounted, type Payment, type PaymentOutcome } from "../model/payment.ts";

import {
  asPayment,
  asReport,
  followsPayment,
  isEarlyRefund,
  isPaidBy,
  isSamePayment,
  recordsOf,
} from "./payment-records.ts";
import { refundedSum } from "./refunded-sum.ts";

/** What is known when an event about a booking's payment arrives. */
export interface PaymentState {
  readonly booking: Booking;
  /** The events about its payment that were recorded before. */
  readonly records: readonly Payment[];
  /** Whether its flight has enough seats for sale, if it has expired. */
  readonly canReseat: boolean;
  /** Another booking that the same payment paid for; null if none. */
  readonly paidFor: Booking["id"] | null;
  /** A confirmed change that waits for its payment; null if none does. */
  readonly pending: Pick<BookingChange, "changeTotalMinor" | "currency"> | null;
  /** Whether the amount was the price of an offer to change the booking, which may have ended meanwhile. */
  readonly isOfOffer: boolean;
}

/** What an event about a booking's payment changes. */
export interface PaymentDecision {
  readonly transition: "pay" | "reseat" | "changeByPayment" | "refund" | null;
  /** The outcome to record; null if the event adds nothing. */
  readonly outcome: PaymentOutcome | null;
  readonly problem: PaymentProblem | null;
  /** For the event's timeline. */
  readonly explanation: string;
  /** What was refunded in all, in minor units. */
  readonly refundedMinor: number;
  /** What had to be paid, in minor units. */
  readonly expectedMinor: number;
  /** The recorded refunds that count now, because their payment arrived. */
  readonly earlyRefunds: readonly Payment[];
}

/** More events of one outcome are not recorded unless they change the booking. */
const maxRecords = 100;

/** Decides what an event about a booking's payment changes. */
export function decidePayment(state: PaymentState, notice: PaymentNotice): PaymentDecision {
  const { booking, records, paidFor, pending, isOfOffer } = state;
  const hasOffers = pending !== null || isOfOffer;
  const hasPayments = hasOffers || booking.expiresAt !== null || booking.paidMinor !== null;
  const decided = notice.isForeign
    ? nothing(booking, "the money is another account's")
    : !hasPayments && !followsPayment(notice)
      ? nothing(booking, `${booking.id} was confirmed without a payment`)
      : paidFor !== null
        ? nothing(booking, `this payment confirmed ${paidFor}`)
        : decideKind(state, notice);
  if (decided.transition !== null) return decided;
  // By outcome, so that many failed payments do not hide one that does not fit.
  const alike = records.filter(({ outcome }) => outcome === decided.outcome);
  return alike.length < maxRecords
    ? decided
    : nothing(booking, `${booking.id} has ${maxRecords} such events already`);
}

function decideKind(state: PaymentState, notice: PaymentNotice): PaymentDecision {
  const { booking } = state;
  if (notice.kind === "pending") {
    return nothing(booking, `the payment of ${booking.id} has not succeeded yet`);
  }
  if (notice.kind === "paid") return decidePaid(state, notice);
  if (notice.kind === "refunded") return decideRefund(state, notice);
  if (notice.kind === "refund_failed" || notice.kind === "disputed") {
    return decidePart(state, notice);
  }
  return { ...nothing(booking, `the payment of ${booking.id} failed`), outcome: "failed" };
}

function decidePaid(state: PaymentState, notice: PaymentNotice): PaymentDecision {
  const { booking, records, canReseat, pending } = state;
  const { id, status } = booking;
  const isKnown = records.some((record) => isPaidBy(record, notice));
  const change = status === "confirmed" ? pending : null;
  // Without ids, the payment of a change looks like that of the booking.
  if (isKnown && (change === null || notice.payment !== null)) return paidBefore(booking);
  const ofSame = recordsOf(records, notice);
  const known = ofSame.find(
    ({ outcome, amount }) => paidOutcomes.has(outcome) && amount === notice.amount,
  );
  if (known !== undefined) return nothing(booking, `${id}: reported before (${known.outcome})`);
  const earlyRefunds = ofSame.filter((record) => isEarlyRefund(record, notice, change !== null));
  const early = ofSame.map((record) =>
    earlyRefunds.includes(record) ? { ...record, outcome: "refunded" as const } : record,
  );
  const refundedMinor = refundedSum(early, booking.currency);
  if (refundedMinor > 0 && refundedMinor >= (notice.amountMinor ?? 0)) {
    return nothing(booking, `the payment of ${id} was refunded before its event arrived`);
  }
  if (change !== null) return decideChange(booking, change, notice, refundedMinor);
  if (status === "confirmed") return problem(booking, "surplus", `${id} was paid before`);
  if (status === "cancelled") return problem(booking, "unseated", `${id} is cancelled`);
  if (!isPrice(booking, notice)) {
    const price = moneyText(moneyOf(booking.totalMinor, booking.currency));
    return problem(booking, "mismatch", `${notice.amount} was paid, but ${id} costs ${price}`);
  }
  if (status === "expired" && !canReseat) {
    return problem(booking, "unseated", `${id} has expired, and too few seats are for sale`);
  }
  const transition = status === "held" ? "pay" : "reseat";
  const suffix = transition === "pay" ? "" : " with new seats";
  const refunded = moneyText(moneyOf(refundedMinor, booking.currency));
  return {
    ...nothing(booking, ""),
    transition,
    outcome: "confirmed",
    // Nothing is due while the booking is confirmed.
    problem: refundedMinor === 0 ? null : "payment.overrefunded",
    explanation: `confirmed ${id}${suffix}${refundedMinor === 0 ? "" : `; ${refunded} was refunded before`}`,
    refundedMinor,
    earlyRefunds,
  };
}

/** Decides about a payment that arrives while a change waits for one. */
function decideChange(
  booking: Booking,
  { changeTotalMinor, currency }: NonNullable<PaymentState["pending"]>,
  notice: PaymentNotice,
  refundedMinor: number,
): PaymentDecision {
  const isPrice = notice.amountMinor === changeTotalMinor && notice.currency === currency;
  if (!isPrice || refundedMinor > 0) {
    const price = moneyText(moneyOf(changeTotalMinor, currency));
    const refunded = moneyText(moneyOf(refundedMinor, currency));
    const suffix = refundedMinor === 0 ? "" : ` and ${refunded} refunded`;
    const why = `${notice.amount} was paid${suffix}, but the change of ${booking.id} costs ${price}`;
    return { ...problem(booking, "mismatch", why), expectedMinor: changeTotalMinor };
  }
  return {
    ...nothing(booking, ""),
    transition: "changeByPayment",
    outcome: "changed",
    explanation: `changed ${booking.id}`,
  };
}

function decideRefund(state: PaymentState, notice: PaymentNotice): PaymentDecision {
  const { booking, records } = state;
  const { id, refundedMinor, refundDueMinor, currency } = booking;
  const known = recordsOf(records, notice).some(
    ({ outcome, amount }) => refundOutcomes.has(outcome) && amount === notice.amount,
  );
  if (known) return nothing(booking, `${id}: a refund of ${notice.amount} was recorded before`);
  const paidMinor = paidBy(state, notice);
  if (paidMinor === null) {
    const why = `refund of a payment that did not confirm ${id}`;
    return { ...nothing(booking, why), outcome: "unmatched" };
  }
  const text = (minor: number) => moneyText(moneyOf(minor, currency));
  if (notice.amountMinor === null || notice.currency !== currency) {
    const explanation = `${id}: ${notice.amount} is no refund of ${text(paidMinor)}`;
    return { ...nothing(booking, explanation), outcome: "unmatched", problem: "payment.mismatch" };
  }
  if (notice.amountMinor > paidMinor) {
    const why = `${id}: a refund of ${notice.amount}, but ${text(paidMinor)} was paid`;
    return problem(booking, "overrefunded", why);
  }
  // An admin may have recorded the same refund.
  const inAllMinor = refundedSum([...records, asReport(notice, "refunded")], currency);
  if (inAllMinor <= refundedMinor) {
    const before = nothing(booking, `${text(refundedMinor)} of ${id} was refunded before`);
    // It may be one that failed.
    const hasFailed = recordsOf(records, notice).some((one) => one.outcome === "refund_failed");
    return hasFailed ? { ...before, outcome: "refunded" } : before;
  }
  return {
    ...nothing(booking, ""),
    transition: "refund",
    outcome: "refunded",
    problem: inAllMinor > refundDueMinor ? "payment.overrefunded" : null,
    explanation: `refunded ${notice.amount} of ${id}`,
    refundedMinor: inAllMinor,
  };
}

/** Decides about a failed refund or a dispute, which several events can report. */
function decidePart({ booking, records }: PaymentState, notice: PaymentNotice): PaymentDecision {
  const { id, currency, refundedMinor } = booking;
  const { amount, kind: outcome, part, note } = notice;
  const isKnown = recordsOf(records, notice).some(
    (record) =>
      record.outcome === outcome &&
      record.part === part &&
      (outcome === "refund_failed" || record.note === note),
  );
  if (isKnown) return nothing(booking, `${id}: reported before (${outcome})`);
  if (outcome === "disputed") {
    return { ...nothing(booking, `dispute of ${amount} of ${id} ${note ?? ""}`), outcome };
  }
  const inAllMinor = refundedSum([...records, asReport(notice, "refund_failed")], currency);
  const isCounted = inAllMinor !== refundedMinor;
  const inAll = moneyText(moneyOf(inAllMinor, currency));
  return {
    ...nothing(booking, `a refund of ${amount} of ${id} failed, and was not counted`),
    ...(isCounted && {
      transition: "refund",
      explanation: `a refund of ${amount} of ${id} failed: ${inAll} is refunded`,
    }),
    outcome: "refund_failed",
    problem: "payment.refund_failed",
    refundedMinor: inAllMinor,
  };
}

function sumOf(payments: readonly Payment[]): number {
  return payments.reduce((sum, { amountMinor }) => sum + (amountMinor ?? 0), 0);
}

const paidOutcomes: ReadonlySet<PaymentOutcome> = new Set(["mismatch", "unseated", "surplus"]);
const refundOutcomes: ReadonlySet<PaymentOutcome> = new Set(["overrefunded", "unmatched"]);

/**
 * What was paid by the payment that a refund names; null if it is no payment of the booking. No event reports the price of a
 * booking that was never held: its payment is the one whose refund comes first.
 */
function paidBy({ booking, records }: PaymentState, notice: PaymentNotice): number | null {
  const paid = records.filter((record) => isPaidBy(record, notice));
  if (paid.length > 0) return sumOf(paid);
  if (booking.expiresAt !== null) return null;
  const isOther = (record: Payment) =>
    record.outcome === "refunded" &&
    record.actor === null &&
    !records.some((one) => hasCounted(one) && isSamePayment(one, record));
  const first = records.find(isOther);
  const isOwn = first === undefined || isSamePayment(first, asPayment(notice));
  return isOwn ? booking.chargedMinor - (booking.paidMinor ?? 0) : null;
}

function isPrice({ totalMinor, currency }: Booking, notice: PaymentNotice): boolean {
  return notice.amountMinor === totalMinor && notice.currency === currency;
}

function nothing({ refundedMinor, totalMinor }: Booking, why: string): PaymentDecision {
  const explanation = `no effect: ${why}`;
  return {
    transition: null,
    outcome: null,
    problem: null,
    explanation,
    refundedMinor,
    expectedMinor: totalMinor,
    earlyRefunds: [],
  };
}

function paidBefore(booking: Booking): PaymentDecision {
  const { id, status } = booking;
  return nothing(
    booking,
    status === "confirmed" ? `already confirmed ${id}` : `${id} is ${status}`,
  );
}

function problem(
  booking: Booking,
  outcome: "mismatch" | "unseated" | "surplus" | "overrefunded",
  why: string,
): PaymentDecision {
  return { ...nothing(booking, why), outcome, problem: `payment.${outcome}` };
}
