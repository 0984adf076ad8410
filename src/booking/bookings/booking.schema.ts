import { type Static, Type } from "@sinclair/typebox";

import { notificationSchema } from "../../outbound/model/notification.ts";
import { pageOf } from "../../web/page.schema.ts";
import {
  amount,
  currencySchema,
  documented,
  emailAddress,
  flag,
  instant,
  listOf,
  nullable,
  prefixedId,
  resource,
  text,
  word,
} from "../../web/schema.ts";
import { bookingChangeSchema } from "../model/booking-change.ts";
import { refundStatuses } from "../model/booking-state.ts";
import { bookingStatuses, paymentStates, paymentStateTexts } from "../model/booking-words.ts";
import { bookingDetailFields, bookingFields, passengerFields } from "../model/booking.ts";
import { flightChangeSchema, flightSchema } from "../model/flight.ts";
import {
  paymentSchema,
  refundProgressSchema,
  refundSumsSchema,
} from "../payments/payment.schema.ts";

const bookingId = prefixedId("bk_", "The booking's id.");

const soldFields = {
  totalPrice: amount("The price for all passengers, in major units of the currency.", 999),
  currency: bookingFields.currency,
  confirmationSentTo: emailAddress("The contact's e-mail address."),
  createdAt: bookingFields.createdAt,
  reference: bookingFields.reference,
  expiresAt: Type.Optional(
    instant("When a hold that is not paid releases its seats. Only if made as a hold."),
  ),
};

export const bookingCreatedSchema = resource("BookingCreated", "A new booking.", {
  bookingId,
  status: word(["confirmed", "held"], "`held` only for a request with `hold`."),
  ...soldFields,
});

export interface BookingCreated extends Static<typeof bookingCreatedSchema> {}

export const refundSchema = resource("Refund", "A refund and the rule it follows.", {
  amount: amount("In major units of the currency.", 899.1),
  currency: currencySchema,
  percent: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: "Percent of the total price.",
    examples: [90],
  }),
  fee: amount("The amount that is not refunded, in major units of the currency.", 99.9),
  method: word(["original_payment_method"], "How it is refunded."),
  status: word(
    refundStatuses,
    "`pending`: due, and not refunded yet as far as is known. `none`: nothing is due. `partial` and `succeeded`: the payment provider reported it, or an admin recorded it.",
  ),
  reason: text("The rule of the refund policy that applies."),
});

export interface RefundView extends Static<typeof refundSchema> {}

export const cancellationSchema = resource("Cancellation", "The cancellation of a booking.", {
  bookingId,
  status: word(["cancelled"], "Always `cancelled`."),
  cancelledAt: instant("When the booking was cancelled."),
  refund: refundSchema,
});

export interface Cancellation extends Static<typeof cancellationSchema> {}

export const cancellationQuoteSchema = resource(
  "CancellationQuote",
  "The refund for a cancellation at the time of the quote.",
  {
    bookingId,
    quotedAt: instant("The time of the quote."),
    refund: refundSchema,
  },
);

export interface CancellationQuote extends Static<typeof cancellationQuoteSchema> {}

const { id, userId, seats, ...otherFields } = bookingFields;

/** In the order of responses. */
const summaryFields = {
  id,
  bookingId,
  status: word(
    bookingStatuses,
    "`held`: waits for a payment. `expired`: was not paid in time. `flown`: confirmed, and the flight has departed.",
  ),
  ...soldFields,
  userId,
  seats,
  flight: flightSchema,
  flightChange: Type.Optional(flightChangeSchema),
  ...otherFields,
  cancellation: nullable(cancellationSchema, "Null unless cancelled."),
};

export const bookingSummarySchema = resource("BookingSummary", "A booking in a list.", {
  ...summaryFields,
  payment: Type.Optional(word(paymentStates, `${paymentStateTexts} Only for admins.`)),
  refund: Type.Optional(refundSumsSchema),
  leadPassenger: Type.Optional(
    text("The name of the first passenger. Only for admins.", "Ada Lovelace"),
  ),
});

export interface BookingSummary extends Static<typeof bookingSummarySchema> {}

export const passengerSchema = resource("Passenger", "A passenger of a booking.", {
  ...passengerFields,
  dateOfBirth: text("Fully masked.", "****-**-**"),
  passportNumber: text(
    "Masked except for its last characters, at most a third of them.",
    "*****67",
  ),
  cancelledAt: Type.Optional(
    instant("When the passenger was taken out of the booking. Only if the rest of it was kept."),
  ),
});

export interface PassengerView extends Static<typeof passengerSchema> {}

/** A refund of a provider is `refund.partial` until all that is due is refunded, then `refund.succeeded`. */
const historyTypes = [
  "booking.held",
  "booking.expired",
  "booking.confirmed",
  "booking.cancelled",
  "booking.changed",
  "booking.corrected",
  "payment.confirmed",
  "payment.changed",
  "payment.mismatch",
  "payment.unseated",
  "payment.surplus",
  "payment.failed",
  "payment.disputed",
  "payment.overrefunded",
  "payment.unmatched",
  "refund.none",
  "refund.pending",
  "refund.partial",
  "refund.succeeded",
  "refund.failed",
  "refund.corrected",
  "flight.changed",
  "flight.cancelled",
  "passport.revealed",
] as const;

const webhookSchema = resource("BookingWebhook", "The provider's event that caused it.", {
  provider: text("The provider.", "payment_processor"),
  eventId: prefixedId("evt_", "The id of the event."),
  deleted: flag("Whether retention has deleted the event."),
});

export interface Webhook extends Static<typeof webhookSchema> {}

const historyEntrySchema = resource("BookingHistoryEntry", "An entry in a booking's history.", {
  at: instant("When it happened."),
  type: word(historyTypes, "What happened, for example booking.held."),
  title: text("A one-line summary.", "Booked: 2 seats for USD 999.00"),
  actor: nullable(
    text("The id of the caller; null if no caller was involved or it is no longer known."),
  ),
  eventId: nullable(
    prefixedId("evt_"),
    "The id of the entry's event; null if it has none, or retention has deleted it. For a payment or refund the provider's, also if deleted.",
  ),
  webhook: nullable(webhookSchema, "Null if no provider's event caused it."),
  notifications: listOf(notificationSchema, "The notifications about that event."),
});

export interface HistoryEntry extends Static<typeof historyEntrySchema> {}

export const bookingDetailsSchema = resource("Booking", "A booking with its passengers.", {
  ...summaryFields,
  ...bookingDetailFields,
  passengers: listOf(passengerSchema, "In the order of the request."),
  payments: listOf(
    paymentSchema,
    "The payments that providers reported, oldest first. Empty unless it was made as a hold.",
  ),
  changes: Type.Optional(
    listOf(bookingChangeSchema, "Offers and changes, newest first. Only if there was one."),
  ),
  refund: nullable(refundProgressSchema, "Null if no refund is due and none was reported."),
  history: Type.Optional(
    listOf(historyEntrySchema, "The booking's history, oldest first. Only for admins."),
  ),
});

export interface BookingDetails extends Static<typeof bookingDetailsSchema> {}

export const bookingPageSchema = pageOf(bookingSummarySchema);

export const bookingParams = documented(
  Type.Object({ id: text("The booking's id.", "bk_019377b07d4070008000000000000001") }),
);
