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
    description: "For all passengers, in major units of the currency.",
    examples: [999],
  }),
  currency: currencySchema(),
  confirmationSentTo: text("The contact's e-mail address.", "ada@example.com"),
  createdAt: instant({ description: "When it was booked." }),
  reference: text("Six letters that people can read out.", "KXQWZA"),
};

export const bookingCreatedSchema = schemaOf<BookingCreated>()(
  "BookingCreated",
  "A booking that was just made.",
  { bookingId, status: word(["confirmed"]), ...soldFields },
);

const refundSchema = schemaOf<RefundView>()("Refund", "What is paid back, and why.", {
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
    description: "What is kept, in major units of the currency.",
    examples: [99.9],
  }),
  method: word(["original_payment_method"]),
  status: word(["pending"]),
  reason: text("The rule that applied."),
});

export const cancellationSchema = schemaOf<Cancellation>()(
  "Cancellation",
  "A booking that was cancelled.",
  {
    bookingId,
    status: word(["cancelled"]),
    cancelledAt: instant({ description: "When it was cancelled." }),
    refund: refundSchema,
  },
);

export const cancellationQuoteSchema = schemaOf<CancellationQuote>()(
  "CancellationQuote",
  "What a cancellation would pay back at the time it was asked.",
  { bookingId, quotedAt: instant({ description: "When it was asked." }), refund: refundSchema },
);

const summaryFields = {
  id: prefixedId<Booking["id"]>("bk_", { description: "The same as `bookingId`." }),
  bookingId,
  status: word(bookingStatuses, {
    description: "`flown`: confirmed, and the flight has departed.",
  }),
  ...soldFields,
  userId: text("Whose booking it is.", "019377b0-7d40-7000-8000-000000000001"),
  seats: count("Seats sold: one a passenger.", 2),
  flight: flightSchema,
  updatedAt: instant({ description: "When it last changed." }),
  cancellation: nullable(cancellationSchema, { description: "Null unless cancelled." }),
};

export const bookingSummarySchema = schemaOf<BookingSummary>()(
  "BookingSummary",
  "A booking in a list.",
  summaryFields,
);

const passengerSchema = schemaOf<PassengerView>()("Passenger", "One traveller of a booking.", {
  firstName: text("Given name.", "Ada"),
  lastName: text("Family name.", "Lovelace"),
  email: text("E-mail address.", "ada@example.com"),
  dateOfBirth: text("Masked whole.", "****-**-**"),
  passportNumber: text("Masked but for the last four characters.", "****4567"),
});

const historyEntrySchema = schemaOf<HistoryEntry>()(
  "BookingHistoryEntry",
  "Something that happened to a booking.",
  {
    at: instant({ description: "When." }),
    type: word(historyTypes, { description: "What." }),
    title: text("One line to read.", "Booked: 2 seats for USD 999.00"),
    actor: nullable(text("Who did it; null when nobody did, or it is no longer known.")),
    eventId: nullable(prefixedId<Event["id"]>("evt_"), {
      description: "Its event; null where there is none, or it is no longer kept.",
    }),
    notifications: listOf(notificationSchema, {
      description: "The notifications that operators received of it.",
    }),
  },
);

export const bookingDetailsSchema = schemaOf<BookingDetails>()(
  "Booking",
  "A booking with its passengers.",
  {
    ...summaryFields,
    contactEmail: text("Where the confirmation was sent.", "ada@example.com"),
    paymentMethod: word(paymentMethods),
    passengers: listOf(passengerSchema, { description: "In the order of the request." }),
    history: Type.Optional(
      listOf(historyEntrySchema, {
        description: "All that happened to it, oldest first. Only for admins.",
      }),
    ),
  },
);

export const bookingPageSchema = pageOf(bookingSummarySchema);

export const bookingParams = documented(Type.Object({ id: text("The booking's id.") }));

export const bookingListQuery = documented(
  Type.Object({
    ...pageParameters,
    userId: Type.Optional(text("Only this user's. Another user's: only for admins.")),
    q: Type.Optional(
      text(
        "Only the bookings of this id, reference or contact's e-mail address, whole, in any letter case. Only for admins.",
        "KXQWZA",
      ),
    ),
  }),
);
