import type { Actor } from "../../base/context.ts";
import { moneyOf, moneyText } from "../../base/money.ts";
import { type Write, write } from "../../db/statement.ts";
import type { DataFields } from "../../event/data-fields.ts";
import type { EventContent, StoredEvent } from "../../event/event.ts";
import { insertEvent } from "../../event/events.sql.ts";
import type { NewNotification, Severity } from "../../event/new-notification.ts";
import { dataOf } from "../../inbound/providers/event-fields.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { amount, count, currencySchema, signedAmount, text, word } from "../../web/schema.ts";
import { refundStatuses } from "../model/booking-state.ts";
import { bookingsProvider } from "../model/booking-words.ts";
import type { Booking } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import { seatsOnFlight } from "../model/flight.ts";
import type { PaymentProblem } from "../model/payment.ts";

import { type EventMaking, ownEvent } from "./own-event.ts";

export const bookingEventTypes = [
  "booking.held",
  "booking.expired",
  "booking.confirmed",
  "booking.cancelled",
  "booking.changed",
  "booking.refunded",
  "booking.corrected",
] as const;
export type BookingEventType = (typeof bookingEventTypes)[number];

const severityOf: Readonly<Record<BookingEventType, Severity>> = {
  "booking.held": "info",
  "booking.expired": "info",
  "booking.confirmed": "success",
  "booking.cancelled": "warning",
  "booking.changed": "info",
  "booking.refunded": "info",
  "booking.corrected": "info",
};

/** The data of booking events. Events about a refund or a mismatched payment also describe the payment. */
export const bookingData = {
  bookingId: text("The booking.", "bk_019377b07d4070008000000000000001"),
  reference: text("Its reference.", "KXPQZM"),
  seats: count("Its seats.", 2),
  flightId: count("The flight.", 654),
  flightNumber: text("The number of the flight.", "N4103"),
  total: amount("Its price in major units of the currency.", 999),
  currency: currencySchema,
  changeId: text("The change of the booking.", "chg_019377b07d4070008000000000000003"),
  previousSeats: count("Its seats before the change.", 3),
  previousFlightId: count("Its flight before the change.", 653),
  previousFlightNumber: text("The number of that flight.", "N4101"),
  previousTotal: amount("Its price before the change, in major units.", 1_498.5),
  penalty: amount("What was kept of that price, in major units.", 49.95),
  changeTotal: signedAmount("What was paid, or refunded if negative, in major units.", -449.55),
  passenger: count("The passenger whose data was corrected, by position.", 2),
  corrected: text("What was corrected of it.", "last name"),
  refundDue: amount("What is still to be refunded, in major units.", 899.1),
  refundStatus: word(refundStatuses, "The progress of the refund."),
  amount: text("What was paid or refunded, if it does not fit.", "USD 900.00"),
  refunded: text("What was refunded.", "USD 999.00"),
  provider: text("Who reported the payment.", "payment_processor"),
  payment: text("The payment at the provider, or those of the booking.", "pi_3Pq1"),
  eventId: text("The provider's event.", "evt_019377b07d4070008000000000000002"),
} as const satisfies DataFields;

/** The idempotency key of a booking's event. Each booking has at most one event of each type, but for refunds, changes and corrections. */
export function bookingEventKey(
  type: BookingEventType | PaymentProblem,
  id: Booking["id"],
): string {
  return `${bookingsProvider}:${id}:${type.replace("booking.", "")}`;
}

/**
 * Makes the event about a booking for operators. It holds no personal data: no name, e-mail address, birth
 * date or passport, and no id of the owner, from which name and e-mail address could be looked up. The
 * actor is an admin's id, or null for the owner and where no caller was involved. `actor`: null for the latter.
 */
export function bookingEvent(
  type: BookingEventType | PaymentProblem,
  { id, reference, userId, seats, totalMinor, currency, flight }: BookingOnFlight,
  actor: Actor | null,
  making: EventMaking,
  now: Date,
): StoredEvent {
  const status = type.replace("booking.", "");
  const { consoleUrl } = making;
  return ownEvent(
    {
      type,
      idempotencyKey: bookingEventKey(type, id),
      subject: `booking/${id}`,
      title: `Booking ${reference} ${status}: ${seatsOnFlight(seats, flight)}`,
      url: consoleUrl === null ? null : `${consoleUrl}#/bookings/${id}`,
      actor: actor === null || actor.id === userId ? null : actor.id,
      data: dataOf(bookingData, {
        bookingId: id,
        reference,
        seats,
        flightId: flight.id,
        flightNumber: flight.flightNumber,
        total: moneyOf(totalMinor, currency).amount,
        currency,
      }),
    },
    now,
  );
}

/** Stores an event of a booking with its notification. `ownerId`: the user whose destinations receive it, if any. */
export function bookingEventWrites(
  outbox: Outbox,
  event: StoredEvent,
  ownerId: Booking["userId"] | null,
): readonly Write<unknown>[] {
  const concerned = ownerId === null ? {} : { ownerId };
  return [
    write(insertEvent, event),
    ...outbox.writesFor(event, [bookingNotification(event)], concerned),
  ];
}

/** The notification about a booking event, or about money that does not fit a booking or names none. */
export function bookingNotification({ title, type, data, url }: EventContent): NewNotification {
  const known = bookingEventTypes.find((each) => each === type);
  const total = { amount: Number(data["total"]), currency: String(data["currency"]) };
  const details = data["bookingId"] === undefined ? String(data["payment"]) : moneyText(total);
  return { title, text: details, url, severity: known === undefined ? "error" : severityOf[known] };
}
