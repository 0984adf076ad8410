import type { Actor } from "../../base/context.ts";
import { makeId } from "../../base/ids.ts";
import { moneyOf, moneyText } from "../../base/money.ts";
import type { Event, EventData, StoredEvent } from "../../event/event.ts";
import type { PaymentNotice } from "../../inbound/model/payment-notice.ts";
import { dataOf } from "../../inbound/providers/event-fields.ts";
import { refundStatus } from "../model/booking-state.ts";
import { bookingsProvider } from "../model/booking-words.ts";
import type { Booking } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import { hasCounted, type Payment } from "../model/payment.ts";
import type { PaymentProblem } from "../model/payment.ts";

import { bookingData, bookingEvent, bookingEventKey } from "./booking-event.ts";
import { type EventMaking, ownEvent } from "./own-event.ts";

/** The idempotency key of an event that follows from a provider's event, or from itself. */
export function paymentEventKey(
  type: PaymentProblem | "booking.refunded",
  id: Booking["id"],
  cause: string,
): string {
  return `${bookingEventKey(type, id)}:${cause}`;
}

/** What operators read, with the amount and what was expected. */
const problemTitles: Readonly<
  Record<PaymentProblem, (booking: BookingOnFlight, amount: string, expected: string) => string>
> = {
  "payment.mismatch": ({ reference }, amount, expected) =>
    `Payment of booking ${reference} does not match: ${amount} instead of ${expected}`,
  "payment.unseated": ({ reference, status }, amount) =>
    `Booking ${reference} is ${status} and has no seats: refund ${amount}`,
  "payment.surplus": ({ reference }, amount) =>
    `Booking ${reference} was paid twice: refund ${amount}`,
  "payment.refund_failed": (booking, amount) =>
    `Refund of ${amount} of booking ${booking.reference} failed: ${refundedOf(booking)} of ${dueOf(booking)} due is refunded`,
  "payment.overrefunded": (booking, amount) =>
    `Booking ${booking.reference} was refunded ${amount}; ${dueOf(booking)} was due and ${paidOf(booking)} paid`,
};

/** Makes the event about money that does not fit a booking. `expectedMinor`: what had to be paid. */
export function problemEvent(
  type: PaymentProblem,
  booking: BookingOnFlight,
  { provider, payment, amount }: PaymentNotice,
  expectedMinor: number,
  cause: Pick<Event, "id">,
  making: EventMaking,
  now: Date,
): StoredEvent {
  const event = bookingEvent(type, booking, null, making, now);
  const expected = moneyText(moneyOf(expectedMinor, booking.currency));
  return {
    ...event,
    idempotencyKey: paymentEventKey(type, booking.id, cause.id),
    title: problemTitles[type](booking, amount, expected),
    data: {
      ...event.data,
      ...dataOf(bookingData, { amount, provider, payment, eventId: cause.id }),
    },
  };
}

/** Makes the event about a refund that a provider's event reports, or that an admin records. */
export function refundEvent(
  booking: BookingOnFlight,
  refunded: string,
  { cause, actor }: { readonly cause?: Pick<Event, "id">; readonly actor: Actor | null },
  making: EventMaking,
  now: Date,
): StoredEvent {
  const event = bookingEvent("booking.refunded", booking, actor, making, now);
  const data = cause === undefined ? { refunded } : { refunded, eventId: cause.id };
  return {
    ...event,
    idempotencyKey: paymentEventKey(
      "booking.refunded",
      booking.id,
      cause?.id ?? makeId("rf", now.getTime()),
    ),
    title: `Booking ${booking.reference} refunded: ${refunded} of ${paidOf(booking)}`,
    data: { ...event.data, ...dataOf(bookingData, data) },
  };
}

/** What is to be refunded of a booking, and of which payments: a part of the data of its event. */
export function refundData(
  { currency, refundDueMinor, refundedMinor }: Booking,
  payments: readonly Payment[],
): EventData {
  const counted = payments.filter(hasCounted);
  return dataOf(bookingData, {
    refundDue: moneyOf(Math.max(0, refundDueMinor - refundedMinor), currency).amount,
    refundStatus: refundStatus({ refundDueMinor, refundedMinor }),
    provider: counted[0]?.provider ?? null,
    payment: counted.flatMap(({ reference }) => reference ?? []).join(", ") || null,
  });
}

/** Makes the event about a payment that names no booking. */
export function unassignedEvent(
  { provider, amount }: PaymentNotice,
  payment: string,
  eventId: Event["id"],
  making: EventMaking,
  now: Date,
): StoredEvent {
  const { consoleUrl } = making;
  return ownEvent(
    {
      type: "payment.unassigned",
      idempotencyKey: `${bookingsProvider}:payment/${provider}/${payment}`,
      subject: `payment/${payment}`,
      title: `${amount} was paid, but names no booking, while bookings wait for their payment`,
      url: consoleUrl === null ? null : `${consoleUrl}#/events/${eventId}`,
      data: dataOf(bookingData, { amount, provider, payment, eventId }),
    },
    now,
  );
}

const paidOf = ({ chargedMinor, currency }: Booking) => moneyText(moneyOf(chargedMinor, currency));
const refundedOf = (booking: Booking) =>
  moneyText(moneyOf(booking.refundedMinor, booking.currency));
const dueOf = (booking: Booking) => moneyText(moneyOf(booking.refundDueMinor, booking.currency));
