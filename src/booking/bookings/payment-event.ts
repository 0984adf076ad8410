import type { MakeId } from "../../base/ids.ts";
import { moneyOf, moneyText } from "../../base/money.ts";
import type { Event, StoredEvent } from "../../event/event.ts";
import type { PaymentNotice } from "../../inbound/payment-notice.ts";
import { type PaymentProblem, refundDue } from "../booking-state.ts";
import type { Booking } from "../booking.ts";

import { bookingEvent, bookingEventKey } from "./booking-event.ts";
import type { BookingOnFlight } from "./bookings.sql.ts";

/** The idempotency key of an event that follows from a provider's event. */
export function paymentEventKey(
  type: PaymentProblem | "booking.refunded",
  id: Booking["id"],
  cause: Event["id"],
): string {
  return `${bookingEventKey(type, id)}:${cause}`;
}

/** What operators read, with the amount and what was expected. */
const problemTitles: Readonly<
  Record<PaymentProblem, (booking: BookingOnFlight, amount: string) => string>
> = {
  "payment.mismatch": (booking, amount) =>
    `Payment of booking ${booking.reference} does not match: ${amount} instead of ${priceOf(booking)}`,
  "payment.unseated": ({ reference, status }, amount) =>
    `Booking ${reference} is ${status} and has no seats: refund ${amount}`,
  "payment.surplus": ({ reference }, amount) =>
    `Booking ${reference} was paid twice: refund ${amount}`,
  "payment.overrefunded": (booking, amount) =>
    `Booking ${booking.reference} was refunded ${amount}; ${dueOf(booking)} was due and ${paidOf(booking)} paid`,
};

/** Makes the event about money that does not fit a booking. */
export function problemEvent(
  type: PaymentProblem,
  booking: BookingOnFlight,
  { provider, payment, amount }: PaymentNotice,
  cause: Pick<Event, "id">,
  makeId: MakeId,
  now: Date,
): StoredEvent {
  const event = bookingEvent(type, booking, null, makeId, now);
  return {
    ...event,
    idempotencyKey: paymentEventKey(type, booking.id, cause.id),
    title: problemTitles[type](booking, amount),
    data: { ...event.data, amount, provider, payment, eventId: cause.id },
  };
}

/** Makes the event about a refund that a provider reports. */
export function refundEvent(
  booking: BookingOnFlight,
  { amount }: PaymentNotice,
  cause: Pick<Event, "id">,
  makeId: MakeId,
  now: Date,
): StoredEvent {
  const event = bookingEvent("booking.refunded", booking, null, makeId, now);
  return {
    ...event,
    idempotencyKey: paymentEventKey("booking.refunded", booking.id, cause.id),
    title: `Booking ${booking.reference} refunded: ${amount} of ${paidOf(booking)}`,
    data: { ...event.data, refunded: amount, eventId: cause.id },
  };
}

const priceOf = ({ totalMinor, currency }: Booking) => moneyText(moneyOf(totalMinor, currency));
const paidOf = ({ paidMinor, currency }: Booking) => moneyText(moneyOf(paidMinor ?? 0, currency));
const dueOf = (booking: Booking) => moneyText(moneyOf(refundDue(booking), booking.currency));
