import type { Clock } from "../../base/clock.ts";
import { moneyOf, moneyText } from "../../base/money.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event, StoredEvent } from "../../event/event.ts";
import type { PaymentNotice } from "../../inbound/model/payment-notice.ts";
import { changedMeanwhile, type Effect, type EffectOf } from "../../inbound/receive/effects.ts";
import { replaceEffect } from "../../inbound/receive/late-payments.sql.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import type { Log } from "../../telemetry/log.ts";
import { bookingEventWrites, type EventMaking, ownEvent } from "../events/own-events.ts";
import { takeSeats } from "../flights/flights.sql.ts";
import { transitions } from "../model/booking-state.ts";
import type { Booking } from "../model/booking.ts";
import { type BookingOnFlight, confirmHold, reseatBooking } from "../model/bookings.sql.ts";
import type { ChangesOfBookings, ChangeTransaction } from "../model/changes-of-bookings.ts";
import { findBooking } from "../model/find-booking.ts";
import { closesAfter, isOnSale } from "../model/flight.ts";
import { hasCounted, type Payment } from "../model/payment.ts";
import { deleteHold } from "../seats/seat-holds.sql.ts";

import { decidePayment, type PaymentDecision } from "./payment-decision.ts";
import { followsPayment } from "./payment-records.ts";
import { paymentsOf } from "./payment-view.ts";
import {
  countEarlyRefunds,
  countPayment,
  insertPayment,
  paymentsByReference,
  setRefunded,
} from "./payments.sql.ts";
import { unassignedNotification, unknownBooking } from "./unassigned-payment.ts";
import { waitingNoticesOf } from "./waiting-notices.sql.ts";
import { settleRefund, type WaitingNotices, waitingNotices } from "./waiting-notices.ts";

interface Parts extends EventMaking {
  readonly waiting: Pick<WaitingNotices, "committed">;
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Log;
  readonly changes: Pick<ChangesOfBookings, "payable">;
  /** Whether test payments count. */
  readonly testMode: boolean;
  readonly seatsChanged: (flightId: Booking["flightId"]) => void;
}

interface PaymentEffects extends Pick<WaitingNotices, "start" | "stop"> {
  readonly effectOf: EffectOf;
}

/** Confirms and refunds bookings by the payment events of providers. */
export function paymentEffects(parts: Omit<Parts, "waiting">): PaymentEffects {
  const waiting = waitingNotices({
    ...parts,
    effectOf: (notice) => effect(notice),
    notifying: (one, now) => unassignedNotification(parts, one, now),
  });
  const effect = effects({ ...parts, waiting });
  return { effectOf: effect, start: () => waiting.start(), stop: () => waiting.stop() };
}

function effects(parts: Parts): EffectOf {
  const { storage, clock, testMode } = parts;
  const effectOf: EffectOf = async (notice) => {
    const { provider, payment } = notice;
    const [holder] =
      payment === null
        ? []
        : await storage.all(paymentsByReference, { provider, reference: payment });
    // A refund belongs to its payment, whatever its text says.
    const refunded = followsPayment(notice) && hasCounted(holder) ? holder.bookingId : null;
    const named = refunded ?? notice.booking ?? holder?.bookingId ?? null;
    const isTest = notice.isTest && !testMode;
    if (isTest) return named === null ? null : testPayment;
    const booking =
      (named === null ? undefined : await bookingFor(named, notice)) ??
      (holder === undefined ? undefined : await bookingFor(holder.bookingId, notice));
    if (booking === undefined) return unknownBooking(parts, notice, named);
    const records = await paymentsOf(storage, booking);
    const now = new Date(clock.now());
    const isElsewhere = hasCounted(holder) && holder.bookingId !== booking.id;
    const change = await parts.changes.payable(booking);
    const decision = decidePayment(
      {
        booking,
        records,
        canReseat: booking.flight.seatsAvailable >= booking.seats && isOnSale(booking.flight, now),
        paidFor: isElsewhere ? holder.bookingId : null,
        pending: change.pending,
        isOfOffer: change.isOfOffer(notice.amountMinor),
      },
      notice,
    );
    const made = decision.transition === "changeByPayment" ? await change.making(now) : null;
    return decidedBy(parts, booking, notice, decision, made, now);
  };

  /**
   * The booking that an event names. If it is a payment whose refund waits for it, the refund is recorded first, as one
   * that names the booking: it may keep the payment from confirming.
   */
  async function bookingFor(
    named: string,
    { kind, provider, payment, isForeign }: PaymentNotice,
  ): Promise<BookingOnFlight | undefined> {
    const booking = await findBooking(storage, named);
    if (booking === undefined || kind !== "paid" || payment === null || isForeign) return booking;
    const waiting = await storage.all(waitingNoticesOf, { provider, reference: payment });
    const refunds = waiting.filter((each) => followsPayment(each.notice));
    for (const refund of refunds) await settleRefund({ ...parts, effectOf }, refund, booking.id);
    return refunds.length === 0 ? booking : findBooking(storage, booking.id);
  }

  return effectOf;
}

const testPayment: Effect = {
  explanation: "no effect: a test payment, and PAYMENT_PROCESSOR_TEST_MODE is off",
  logged: { effect: "test payment" },
  writes: () => [],
  committed() {},
};

function decidedBy(
  parts: Parts,
  booking: BookingOnFlight,
  notice: PaymentNotice,
  decision: PaymentDecision,
  made: ChangeTransaction | null,
  now: Date,
): Effect {
  const { outcome, transition, explanation } = decision;
  const logged = { effect: outcome ?? "none", booking: booking.id };
  if (outcome === null) return { explanation, logged, writes: () => [], committed() {} };
  const record = {
    bookingId: booking.id,
    provider: notice.provider,
    reference: notice.payment,
    amountMinor: notice.amountMinor,
    currency: notice.currency,
    amount: notice.amount,
    outcome,
    createdAt: now,
    occurredAt: notice.atMs === null ? now : new Date(notice.atMs),
    actor: null,
    note: notice.note,
    part: notice.part,
  };
  let events: readonly StoredEvent[] = [];
  return {
    explanation,
    logged,
    writes(cause) {
      const payment: Payment = { ...record, eventId: cause.id };
      events = eventsOf(parts, booking, cause, notice, decision, now);
      return [
        // First, because what was decided holds only if nothing changed since.
        write(countPayment, booking, changedMeanwhile),
        ...(made?.writes ?? transitionWrites(booking, payment, decision, now)),
        write(insertPayment, payment, changedMeanwhile),
        ...events.flatMap((event) => bookingEventWrites(parts.outbox, event, booking.userId)),
      ];
    },
    committed() {
      for (const event of events) parts.outbox.committed(event);
      if (made !== null) parts.outbox.committed(made.event);
      const { provider, reference } = record;
      if (reference !== null) parts.waiting.committed({ provider, reference });
      if (transition === "reseat" || made !== null) parts.seatsChanged(booking.flightId);
    },
  };
}

function transitionWrites(
  { id, flightId, seats }: BookingOnFlight,
  payment: Payment,
  { transition, refundedMinor, earlyRefunds }: PaymentDecision,
  now: Date,
): readonly Write<unknown>[] {
  if (transition === null) return [];
  const refunded = { id, refundedMinor, updatedAt: now };
  if (transition === "refund") return [write(setRefunded, refunded, changedMeanwhile)];
  const anyPrice = { priceMinor: null, currency: null, revision: null };
  const seating = { id: flightId, seats, closesAfter: closesAfter(now), ...anyPrice };
  const confirm = transition === "pay" ? confirmHold : reseatBooking;
  return [
    ...(transition === "reseat" ? [write(takeSeats, seating, changedMeanwhile)] : []),
    write(confirm, { id, updatedAt: now, confirmedAt: now }, changedMeanwhile),
    ...(transition === "pay" ? [write(deleteHold, { bookingId: id, purpose: "booking" })] : []),
    ...(refundedMinor === 0 ? [] : [write(setRefunded, refunded, changedMeanwhile)]),
    ...(earlyRefunds.length === 0
      ? []
      : [
          write(countEarlyRefunds, payment),
          ...earlyRefunds.map(({ eventId, amount }) =>
            write(replaceEffect, { id: eventId, effect: `refunded ${amount} of ${id}` }),
          ),
        ]),
  ];
}

/** The events that follow. */
function eventsOf(
  making: EventMaking,
  booking: BookingOnFlight,
  { id: eventId }: Pick<Event, "id">,
  notice: PaymentNotice,
  { transition, problem, refundedMinor, expectedMinor }: PaymentDecision,
  now: Date,
): readonly StoredEvent[] {
  const isConfirmed = transition === "pay" || transition === "reseat";
  const isRefunded =
    (transition === "refund" && notice.kind === "refunded") || (isConfirmed && refundedMinor > 0);
  const paid = { paidMinor: booking.totalMinor, chargedMinor: booking.totalMinor };
  const after = isConfirmed ? { ...booking, ...paid } : { ...booking, refundedMinor };
  const refunded = moneyText(moneyOf(refundedMinor, booking.currency));
  // Of a payment whose refund arrived first, what follows is about that refund.
  const about = isConfirmed && isRefunded ? { ...notice, amount: refunded } : notice;
  return [
    ...(isConfirmed ? [ownEvent(transitions[transition].event, [booking], null, making, now)] : []),
    ...(isRefunded
      ? [ownEvent("booking.refunded", [after, about.amount, eventId, now], null, making, now)]
      : []),
    ...(problem === null
      ? []
      : [ownEvent(problem, [after, about, expectedMinor, eventId], null, making, now)]),
  ];
}
