import { Type } from "@sinclair/typebox";

import type { Event } from "../../gateway/event.ts";
import { currencySchema, flightSchema } from "../flights/flight.schema.ts";
import { notificationSchema } from "../../gateway/notifications/notification.schema.ts";
import { pageOf, pageParameters } from "../../web/rest/page.schema.ts";
import {
  count,
  documented,
  instant,
  listOf,
  nullable,
  prefixedId,
  schemaOf,
  text,
  word,
} from "../../web/rest/schema.ts";

import { type HistoryEntry, historyTypes } from "./booking-history.ts";
import {
  type BookingCreated,
  type BookingDetails,
  type BookingSummary,
  type Cancellation,
  type CancellationQuote,
  type PassengerView,
  type RefundView,
} from "./booking-view.ts";
import { type Booking, bookingStatuses, paymentMethods } from "../booking.ts";

const bookingId = prefixedId<Booking["id"]>("bk_", { description: "The booking's id." });

const soldFields = {
  totalPrice: Type.Number({
    minimum: 0,
    description: "The price for all passengers, in major units of the currency.",
    examples: [999],
  }),
  currency: currencySchema(),
  confirmationSentTo: text("The contact's e-mail address.", "ada@example.com"),
  createdAt: instant({ description: "When the booking was made." }),
  reference: text("Six letters, easy to read out.", "KXQWZA"),
};

export const bookingCreatedSchema = schemaOf<BookingCreated>()("BookingCreated", "A new booking.", {
  bookingId,
  status: word(["confirmed"]),
  ...soldFields,
});

const refundSchema = schemaOf<RefundView>()("Refund", "A refund and the rule it follows.", {
  amount: Type.Number({
    minimum: 0,
    description: "In major units of the currency.",
    examples: [899.1],
  }),
  currency: currencySchema(),
  percent: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: "Percent of the total price.",
    examples: [90],
  }),
  fee: Type.Number({
    minimum: 0,
    description: "The amount that is not refunded, in major units of the currency.",
    examples: [99.9],
  }),
  method: word(["original_payment_method"]),
  status: word(["pending"]),
  reason: text("The rule of the refund policy that applies."),
});

export const cancellationSchema = schemaOf<Cancellation>()(
  "Cancellation",
  "The cancellation of a booking.",
  {
    bookingId,
    status: word(["cancelled"]),
    cancelledAt: instant({ description: "When the booking was cancelled." }),
    refund: refundSchema,
  },
);

export const cancellationQuoteSchema = schemaOf<CancellationQuote>()(
  "CancellationQuote",
  "The refund for a cancellation at the time of the quote.",
  {
    bookingId,
    quotedAt: instant({ description: "The time of the quote." }),
    refund: refundSchema,
  },
);

const summaryFields = {
  id: prefixedId<Booking["id"]>("bk_", { description: "Equal to `bookingId`." }),
  bookingId,
  status: word(bookingStatuses, {
    description: "`flown`: confirmed, and the flight has departed.",
  }),
  ...soldFields,
  userId: text("The id of the booking's owner.", "019377b0-7d40-7000-8000-000000000001"),
  seats: count("Seats sold, one per passenger.", 2),
  flight: flightSchema,
  updatedAt: instant({ description: "When the booking last changed." }),
  cancellation: nullable(cancellationSchema, { description: "Null unless cancelled." }),
};

export const bookingSummarySchema = schemaOf<BookingSummary>()(
  "BookingSummary",
  "A booking in a list.",
  summaryFields,
);

const passengerSchema = schemaOf<PassengerView>()("Passenger", "A passenger of a booking.", {
  firstName: text("Given name.", "Ada"),
  lastName: text("Family name.", "Lovelace"),
  email: text("E-mail address.", "ada@example.com"),
  dateOfBirth: text("Fully masked.", "****-**-**"),
  passportNumber: text("Masked except for the last four characters.", "****4567"),
});

const historyEntrySchema = schemaOf<HistoryEntry>()(
  "BookingHistoryEntry",
  "An entry in a booking's history.",
  {
    at: instant({ description: "When it happened." }),
    type: word(historyTypes, { description: "What happened." }),
    title: text("A one-line summary.", "Booked: 2 seats for USD 999.00"),
    actor: nullable(
      text("The id of the caller; null if no caller was involved or it is no longer known."),
    ),
    eventId: nullable(prefixedId<Event["id"]>("evt_"), {
      description: "The id of the entry's event; null if it has none, or retention has deleted it.",
    }),
    notifications: listOf(notificationSchema, {
      description: "The notifications about that event.",
    }),
  },
);

export const bookingDetailsSchema = schemaOf<BookingDetails>()(
  "Booking",
  "A booking with its passengers.",
  {
    ...summaryFields,
    contactEmail: text("The contact's e-mail address.", "ada@example.com"),
    paymentMethod: word(paymentMethods),
    passengers: listOf(passengerSchema, { description: "In the order of the request." }),
    history: Type.Optional(
      listOf(historyEntrySchema, {
        description: "The booking's history, oldest first. Only for admins.",
      }),
    ),
  },
);

export const bookingPageSchema = pageOf(bookingSummarySchema);

export const bookingParams = documented(Type.Object({ id: text("The booking's id.") }));

export const bookingListQuery = documented(
  Type.Object({
    ...pageParameters,
    userId: Type.Optional(
      text("Return this user's bookings only. Only admins may name another user."),
    ),
    q: Type.Optional(
      text(
        "Return bookings with exactly this id, reference or contact e-mail address, ignoring case. Only for admins.",
        "KXQWZA",
      ),
    ),
  }),
);
