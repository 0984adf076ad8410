import { moneyOf, moneyText } from "../base/money.ts";
import type { PaymentNotice } from "../inbound/payment-notice.ts";

import type { Booking, BookingStatus } from "./booking.ts";
import type { Payment, PaymentOutcome } from "./payment.ts";

/** A stored status. `flown` is derived: a confirmed booking whose flight has departed. */
export type StoredStatus = Booking["status"];

/** One change of a booking's status. docs/payments.md draws them. */
export interface Transition {
  /** The statuses it starts from; null for a new booking. */
  readonly from: StoredStatus | null;
  readonly to: StoredStatus;
  /** Who may cause it. `owner`: the user who booked, and admins. */
  readonly by: "owner" | "payment" | "time";
  /** The event that operators receive. */
  readonly event: `booking.${"held" | "confirmed" | "expired" | "cancelled" | "refunded"}`;
  /** What happens to the flight's seats. */
  readonly seats: "taken" | "kept" | "released" | "none";
  /** What happens to money: nothing, a payment is recorded, a refund becomes due, or is paid out. */
  readonly money: "none" | "paid" | "due" | "refunded";
}

/**
 * The life of a booking. Every change is one statement that also requires the old status, so that of two
 * concurrent changes only one happens.
 */
export const transitions = {
  book: transition(null, "confirmed", "owner", "taken", "none"),
  hold: transition(null, "held", "owner", "taken", "none"),
  pay: transition("held", "confirmed", "payment", "kept", "paid"),
  expire: transition("held", "expired", "time", "released", "none"),
  release: transition("held", "cancelled", "owner", "released", "none"),
  /** A payment that arrives after the hold expired, while seats are left. */
  reseat: transition("expired", "confirmed", "payment", "taken", "paid"),
  cancel: transition("confirmed", "cancelled", "owner", "released", "due"),
  /** The provider paid money back. It may also do so before the booking is cancelled. */
  refund: {
    ...transition("cancelled", "cancelled", "payment", "none", "refunded"),
    event: "booking.refunded",
  },
} as const satisfies Record<string, Transition>;
export type TransitionName = keyof typeof transitions;

function transition<
  const From extends StoredStatus | null,
  const To extends StoredStatus,
  const By extends Transition["by"],
  const Seats extends Transition["seats"],
  const Money extends Transition["money"],
>(from: From, to: To, by: By, seats: Seats, money: Money) {
  const event = `booking.${to}` as const;
  return { from, to, by, event, seats, money };
}

/** Whether a booking with this status has seats of its flight. */
export function hasSeats(status: BookingStatus): boolean {
  return status === "held" || status === "confirmed" || status === "flown";
}

/** What is known when an event about a booking's payment arrives. */
export interface PaymentState {
  readonly booking: Booking;
  /** The events about its payment that were recorded before. */
  readonly records: readonly Payment[];
  /** Whether its flight has enough seats for sale, if it has expired. */
  readonly canReseat: boolean;
  /** Another booking that the same payment confirmed; null if none. */
  readonly paidFor: Booking["id"] | null;
}

/** What operators must look at: money that does not fit the booking. */
export const paymentProblems = [
  "payment.mismatch",
  "payment.unseated",
  "payment.surplus",
  "payment.overrefunded",
] as const;
export type PaymentProblem = (typeof paymentProblems)[number];

/** What an event about a booking's payment changes. */
export interface PaymentDecision {
  readonly transition: "pay" | "reseat" | "refund" | null;
  /** How it is recorded; null: not at all, since it says nothing new. */
  readonly outcome: PaymentOutcome | null;
  readonly problem: PaymentProblem | null;
  /** For the event's timeline. */
  readonly explanation: string;
  /** What was refunded in all, in minor units. */
  readonly refundedMinor: number;
  /** The recorded refunds that count now, because their payment arrived. */
  readonly earlyRefunds: readonly Payment[];
}

/** More events of one outcome are not recorded unless they change the booking. */
const maxRecords = 100;

/** Decides what an event about a booking's payment changes. */
export function decidePayment(state: PaymentState, notice: PaymentNotice): PaymentDecision {
  const { booking, records, paidFor } = state;
  const decided = notice.isForeign
    ? nothing(booking, "the money is another account's")
    : booking.expiresAt === null
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
  if (notice.kind === "paid") return decidePaid(state, notice);
  if (notice.kind === "refunded") return decideRefund(state, notice);
  return { ...nothing(booking, `the payment of ${booking.id} failed`), outcome: "failed" };
}

function decidePaid(state: PaymentState, notice: PaymentNotice): PaymentDecision {
  const { booking, records, canReseat } = state;
  const { id, status } = booking;
  if (isPaidBy(paymentOf(records), notice)) return paidBefore(booking);
  const ofSame = recordsOf(records, notice);
  const known = ofSame.find(
    ({ outcome, amount }) => paidOutcomes.has(outcome) && amount === notice.amount,
  );
  if (known !== undefined) return nothing(booking, `${id}: reported before (${known.outcome})`);
  const earlyRefunds = ofSame.filter((record) => isEarlyRefund(record, notice));
  const refundedMinor = Math.max(0, ...earlyRefunds.map(({ amountMinor }) => amountMinor ?? 0));
  if (refundedMinor > 0 && refundedMinor >= (notice.amountMinor ?? 0)) {
    return nothing(booking, `the payment of ${id} was refunded before its event arrived`);
  }
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
  const early = moneyText(moneyOf(refundedMinor, booking.currency));
  return {
    transition,
    outcome: "confirmed",
    // Nothing is due while the booking is confirmed.
    problem: refundedMinor === 0 ? null : "payment.overrefunded",
    explanation: `confirmed ${id}${suffix}${refundedMinor === 0 ? "" : `; ${early} was refunded before`}`,
    refundedMinor,
    earlyRefunds,
  };
}

function decideRefund({ booking, records }: PaymentState, notice: PaymentNotice): PaymentDecision {
  const { id, paidMinor, refundedMinor, currency } = booking;
  const known = recordsOf(records, notice).some(
    ({ outcome, amount }) => refundOutcomes.has(outcome) && amount === notice.amount,
  );
  if (known) return nothing(booking, `${id}: a refund of ${notice.amount} was recorded before`);
  const paid = paymentOf(records);
  if (paidMinor === null || !isPaidBy(paid, notice)) {
    const why = `refund of a payment that did not confirm ${id}`;
    return { ...nothing(booking, why), outcome: "unmatched" };
  }
  if (notice.amountMinor === null || notice.currency !== currency) {
    const explanation = `${id}: ${notice.amount} is no refund of ${paid.amount}`;
    return { ...nothing(booking, explanation), outcome: "unmatched", problem: "payment.mismatch" };
  }
  if (notice.amountMinor > paidMinor) {
    return problem(
      booking,
      "overrefunded",
      `${id}: a refund of ${notice.amount}, but ${paid.amount} was paid`,
    );
  }
  if (notice.amountMinor <= refundedMinor) {
    const before = moneyText(moneyOf(refundedMinor, currency));
    return nothing(booking, `${before} of ${id} was refunded before`);
  }
  const isMore = notice.amountMinor > refundDue(booking);
  return {
    transition: "refund",
    outcome: "refunded",
    problem: isMore ? "payment.overrefunded" : null,
    explanation: `refunded ${notice.amount} of ${id}`,
    refundedMinor: notice.amountMinor,
    earlyRefunds: [],
  };
}

const paidOutcomes: ReadonlySet<PaymentOutcome> = new Set(["mismatch", "unseated", "surplus"]);
const refundOutcomes: ReadonlySet<PaymentOutcome> = new Set(["overrefunded", "unmatched"]);

/** The payment that confirmed the booking. */
function paymentOf(records: readonly Payment[]): Payment | undefined {
  return records.find(({ outcome }) => outcome === "confirmed");
}

/** Whether a notice is about this payment. Without ids, all payments of a provider look the same. */
function isPaidBy(paid: Payment | undefined, notice: PaymentNotice): paid is Payment {
  return paid?.provider === notice.provider && paid.reference === notice.payment;
}

/** The earlier events about the payment of a notice; none if it has no id. */
function recordsOf(records: readonly Payment[], { provider, payment }: PaymentNotice) {
  return payment === null
    ? []
    : records.filter((record) => record.reference === payment && record.provider === provider);
}

/** Whether a recorded refund is one of this payment, which arrives after it. */
function isEarlyRefund(record: Payment, notice: PaymentNotice): boolean {
  const { outcome, amountMinor, currency } = record;
  return outcome === "unmatched" && amountMinor !== null && currency === notice.currency;
}

function isPrice({ totalMinor, currency }: Booking, notice: PaymentNotice): boolean {
  return notice.amountMinor === totalMinor && notice.currency === currency;
}

function nothing({ refundedMinor }: Booking, why: string): PaymentDecision {
  const explanation = `no effect: ${why}`;
  return {
    transition: null,
    outcome: null,
    problem: null,
    explanation,
    refundedMinor,
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

/** What is to be refunded, in minor units: nothing until the booking is cancelled. */
export function refundDue({ status, refundMinor }: Booking): number {
  return status === "cancelled" ? (refundMinor ?? 0) : 0;
}

/**
 * The progress of a refund. `none`: nothing is due and nothing was refunded. No payment event changes the refund of a
 * booking that was never held: what is due stays `pending`.
 */
export const refundStatuses = ["pending", "partial", "succeeded", "none"] as const;
export type RefundStatus = (typeof refundStatuses)[number];

export function refundStatus(booking: Booking): RefundStatus {
  const due = refundDue(booking);
  if (due === 0 && booking.refundedMinor === 0) return "none";
  if (booking.refundedMinor >= due) return "succeeded";
  return booking.refundedMinor === 0 ? "pending" : "partial";
}
