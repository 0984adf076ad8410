import type { Event, StoredEvent } from "../../event/event.ts";
import {
  type DescribedEvent,
  exampleNotification,
  exampleTimes,
} from "../../events/described-event.ts";
import type { PaymentNotice } from "../../inbound/model/payment-notice.ts";
import type { BookingChange } from "../model/booking-change.ts";
import { emptyBooking } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import { cancelledFlight, updatedFlight } from "../model/flight-change.ts";
import type { Payment } from "../model/payment.ts";
import { type PaymentProblem, paymentProblems } from "../model/payment.ts";

import { bookingData, bookingEvent, bookingNotification } from "./booking-event.ts";
import { changeEvent } from "./change-event.ts";
import { correctionEvent } from "./correction-event.ts";
import {
  flightChangeData,
  flightChangeEvent,
  flightNotification,
  oversoldEvent,
} from "./flight-change-event.ts";
import { problemEvent, refundData, refundEvent, unassignedEvent } from "./payment-event.ts";

const { createdAt: now } = exampleTimes;
const uuid = exampleTimes.id.slice("evt_".length);

export const exampleBooking: BookingOnFlight = {
  ...emptyBooking,
  id: `bk_${uuid}`,
  reference: "KXPQZM",
  userId: uuid,
  flightId: 654,
  status: "confirmed",
  seats: 2,
  totalMinor: 99_900,
  currency: "USD",
  contactEmail: "ada@example.com",
  paymentMethod: "card",
  createdAt: now,
  updatedAt: now,
  confirmedAt: now,
  flight: {
    id: 654,
    flightNumber: "N4103",
    airline: "Northwind",
    origin: "JFK",
    destination: "LHR",
    departureTime: new Date("2026-12-08T13:05:00Z"),
    arrivalTime: new Date("2026-12-08T20:10:00Z"),
    cabinClass: "economy",
    priceMinor: 49_950,
    currency: "USD",
    seats: 180,
    seatsAvailable: 178,
    oversold: 0,
    createdAt: now,
    cancelledAt: null,
    revision: 0,
    lastChange: null,
  },
};

const cause = { id: "evt_019377b07d4070008000000000000002" } as const;
const making = { consoleUrl: "https://skyhook.example.com/console" };

const exampleOffer: BookingChange = {
  id: "chg_019377b07d4070008000000000000003",
  bookingId: exampleBooking.id,
  userId: uuid,
  kind: "cancellation",
  status: "confirmed",
  revision: 1,
  flightId: exampleBooking.flightId,
  newFlightId: null,
  passengers: [3],
  seats: 1,
  currency: "USD",
  previousTotalMinor: 149_850,
  newTotalMinor: exampleBooking.totalMinor,
  penaltyMinor: 4_995,
  changeTotalMinor: -44_955,
  keptMinor: 0,
  percent: 90,
  reason: "More than 72 h before departure",
  createdAt: now,
  updatedAt: now,
  expiresAt: now,
  confirmedAt: now,
};

const noticeOf = (amount: string): PaymentNotice => ({
  provider: "payment_processor",
  kind: "paid",
  booking: exampleBooking.reference,
  payment: "pi_1",
  part: null,
  note: null,
  atMs: null,
  amountMinor: null,
  currency: "USD",
  isForeign: false,
  isTest: false,
  amount,
});

/** One description for all events of the provider. */
const data = { ...bookingData, ...flightChangeData };

/** The types of event about bookings and their payments, with an example each. */
export function bookingEvents(): readonly DescribedEvent[] {
  const actor = { id: uuid, roles: ["user"] } as const;
  const before = { ...exampleBooking, seats: 3, totalMinor: exampleOffer.previousTotalMinor };
  const paid = {
    ...exampleBooking,
    chargedMinor: exampleBooking.totalMinor,
    paidMinor: exampleBooking.totalMinor,
  };
  const refunded = { ...paid, status: "cancelled", refundDueMinor: paid.totalMinor } as const;
  const noticed: Readonly<Record<PaymentProblem, readonly [BookingOnFlight, string]>> = {
    "payment.mismatch": [{ ...exampleBooking, status: "held" }, "USD 900.00"],
    "payment.unseated": [{ ...exampleBooking, status: "expired" }, "USD 999.00"],
    "payment.surplus": [paid, "USD 999.00"],
    "payment.overrefunded": [refunded, "USD 1200.00"],
    "payment.refund_failed": [refunded, "USD 999.00"],
  };
  const plain = ["booking.held", "booking.expired", "booking.confirmed"] as const;
  const payment: Payment = {
    ...noticeOf("USD 999.00"),
    eventId: cause.id,
    bookingId: paid.id,
    reference: "pi_1",
    amountMinor: paid.totalMinor,
    outcome: "confirmed",
    createdAt: now,
    occurredAt: now,
    actor: null,
  };
  const due = { ...paid, refundDueMinor: 89_910 };
  const cancelled = bookingEvent("booking.cancelled", paid, actor, making, now);
  const events = [
    ...plain.map((type) => bookingEvent(type, exampleBooking, actor, making, now)),
    { ...cancelled, data: { ...cancelled.data, ...refundData(due, [payment]) } },
    changeEvent(before, exampleBooking, exampleOffer, [payment], actor, making, now),
    refundEvent(refunded, "USD 999.00", { cause, actor: null }, making, now),
    correctionEvent(paid, 2, 1, ["lastName"], actor, making, now),
    ...paymentProblems.map((type) => {
      const [booking, amount] = noticed[type];
      return problemEvent(type, booking, noticeOf(amount), booking.totalMinor, cause, making, now);
    }),
    unassignedEvent(noticeOf("USD 999.00"), "pi_1", cause.id, making, now),
  ];
  return events.map((stored) => {
    const event = shownOf(stored);
    const notification = exampleNotification(bookingNotification(event));
    return { from: "Bookings", data, event, notification };
  });
}

/** The types of event about flights that change, with an example each. */
export function flightChangeEvents(): readonly DescribedEvent[] {
  const { flight } = exampleBooking;
  const departureTime = new Date("2026-12-08T15:05:00Z");
  const arrivalTime = new Date("2026-12-08T22:10:00Z");
  const moved = updatedFlight(flight, { ...flight, departureTime, arrivalTime }, now);
  const changes = [moved, cancelledFlight(flight, now)].flatMap((after) =>
    after.lastChange === null ? [] : [flightChangeEvent(after, after.lastChange, now)],
  );
  const oversold = oversoldEvent({ ...flight, seatsAvailable: -2 }, now);
  return [...changes, oversold].map((stored) => {
    const event = shownOf(stored);
    const notification = exampleNotification(flightNotification(event));
    return { from: "Bookings", data, event, notification };
  });
}

/** The fields that are shown of an event. */
function shownOf(stored: StoredEvent): Event {
  const { id } = exampleTimes;
  const { provider, type, status, idempotencyKey, occurredAt, createdAt } = stored;
  const { subject, title, url, actor, data, recovered } = stored;
  const key = { id, provider, type, status, idempotencyKey, occurredAt, createdAt };
  return { ...key, subject, title, url, actor, data, recovered };
}
