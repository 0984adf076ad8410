import { Type } from "@sinclair/typebox";

import { notificationSchema } from "../../outbound/notification.ts";
import { pageOf, pageParameters } from "../../web/rest/page.schema.ts";
import {
  amount,
  count,
  documented,
  emailAddress,
  instant,
  listOf,
  nullable,
  prefixedId,
  schemaOf,
  text,
  word,
} from "../../web/schema.ts";
import { refundStatuses } from "../booking-state.ts";
import { bookingStatuses, paymentMethods } from "../booking.ts";
import { currencySchema, flightSchema } from "../flights/flight.schema.ts";

import { type HistoryEntry, historyTypes, type Webhook } from "./booking-history.ts";
import {
  type BookingCreated,
  type BookingDetails,
  type BookingSummary,
  type Cancellation,
  type CancellationQuote,
  type PassengerView,
  type RefundView,
} from "./booking-view.ts";
import {
  paymentStatuses,
  type PaymentView,
  payoutStatuses,
  type PayoutView,
  type RefundProgress,
} from "./payment-view.ts";

const bookingId = prefixedId("bk_", { description: "The booking's id." });

const soldFields = {
  totalPrice: amount("The price for all passengers, in major units of the currency.", 999),
  currency: currencySchema(),
  confirmationSentTo: emailAddress("The contact's e-mail address."),
  createdAt: instant({ description: "When the booking was made." }),
  reference: text("Six letters, easy to read out.", "KXQWZA"),
  expiresAt: Type.Optional(
    instant({
      description: "When a hold that is not paid releases its seats. Only if made as a hold.",
    }),
  ),
};

export const bookingCreatedSchema = schemaOf<BookingCreated>()("BookingCreated", "A new booking.", {
  bookingId,
  status: word(["confirmed", "held"], { description: "`held` only for a request with `hold`." }),
  ...soldFields,
});

export const refundSchema = schemaOf<RefundView>()("Refund", "A refund and the rule it follows.", {
  amount: amount("In major units of the currency.", 899.1),
  currency: currencySchema(),
  percent: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: "Percent of the total price.",
    examples: [90],
  }),
  fee: amount("The amount that is not refunded, in major units of the currency.", 99.9),
  method: word(["original_payment_method"], { description: "How it is refunded." }),
  status: word(refundStatuses, {
    description:
      "`pending`: due, and not refunded yet as far as is known. `none`: nothing is due. `partial` and `succeeded`: the payment provider reported it, for a booking that was made as a hold.",
  }),
  reason: text("The rule of the refund policy that applies."),
});

export const cancellationSchema = schemaOf<Cancellation>()(
  "Cancellation",
  "The cancellation of a booking.",
  {
    bookingId,
    status: word(["cancelled"], { description: "Always `cancelled`." }),
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
  id: prefixedId("bk_", { description: "Equal to `bookingId`." }),
  bookingId,
  status: word(bookingStatuses, {
    description:
      "`held`: waits for a payment. `expired`: was not paid in time. `flown`: confirmed, and the flight has departed.",
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

export const passengerSchema = schemaOf<PassengerView>()("Passenger", "A passenger of a booking.", {
  firstName: text("Given name.", "Ada"),
  lastName: text("Family name.", "Lovelace"),
  email: emailAddress("E-mail address."),
  dateOfBirth: text("Fully masked.", "****-**-**"),
  passportNumber: text(
    "Masked except for its last characters, at most a third of them.",
    "*****67",
  ),
});

export const webhookSchema = schemaOf<Webhook>()(
  "BookingWebhook",
  "The provider's event that caused it.",
  {
    provider: text("The provider.", "payment_processor"),
    eventId: prefixedId("evt_", { description: "The id of the event." }),
    deleted: Type.Boolean({ description: "Whether retention has deleted the event." }),
  },
);

export const historyEntrySchema = schemaOf<HistoryEntry>()(
  "BookingHistoryEntry",
  "An entry in a booking's history.",
  {
    at: instant({ description: "When it happened." }),
    type: word(historyTypes, { description: "What happened, for example booking.held." }),
    title: text("A one-line summary.", "Booked: 2 seats for USD 999.00"),
    actor: nullable(
      text("The id of the caller; null if no caller was involved or it is no longer known."),
    ),
    eventId: nullable(prefixedId("evt_"), {
      description:
        "The id of the entry's event; null if it has none, or retention has deleted it. For a payment or refund the provider's, also if deleted.",
    }),
    webhook: nullable(webhookSchema, { description: "Null if no provider's event caused it." }),
    notifications: listOf(notificationSchema, {
      description: "The notifications about that event.",
    }),
  },
);

const reportedFields = {
  amount: nullable(amount("In major units.", 999), {
    description: "In major units; null if it cannot be read.",
  }),
  currency: nullable(currencySchema(), {
    description: "ISO 4217 code; null if it cannot be read.",
  }),
  provider: text("The provider that reported it.", "payment_processor"),
  createdAt: instant({ description: "When it was reported." }),
  eventId: prefixedId("evt_", {
    description: "The provider's event. Retention may have deleted it.",
  }),
};

export const paymentSchema = schemaOf<PaymentView>()(
  "Payment",
  "A payment that a provider reported.",
  {
    ...reportedFields,
    status: word(paymentStatuses, {
      description:
        "`confirmed`: it confirmed the booking. `mismatch`: not the price. `unseated`: too late, and no seats are left. `surplus`: the booking was paid before.",
    }),
  },
);

export const payoutSchema = schemaOf<PayoutView>()(
  "Payout",
  "A refund that a provider reported. The amount is the sum of all refunds of the payment so far.",
  {
    ...reportedFields,
    status: word(payoutStatuses, {
      description:
        "`overrefunded`: more than was paid. `unmatched`: of another payment. Neither is counted.",
    }),
  },
);

export const refundProgressSchema = schemaOf<RefundProgress>()(
  "RefundProgress",
  "The refund due, and the amount refunded so far.",
  {
    amount: amount("What is due, in major units."),
    refunded: amount("What was refunded, in major units."),
    currency: currencySchema(),
    status: word(refundStatuses, { description: "Its progress." }),
    payouts: listOf(payoutSchema, { description: "Oldest first." }),
  },
);

export const bookingDetailsSchema = schemaOf<BookingDetails>()(
  "Booking",
  "A booking with its passengers.",
  {
    ...summaryFields,
    contactEmail: emailAddress("The contact's e-mail address."),
    paymentMethod: word(paymentMethods),
    passengers: listOf(passengerSchema, { description: "In the order of the request." }),
    payments: listOf(paymentSchema, {
      description:
        "The payments that providers reported, oldest first. Empty unless it was made as a hold.",
    }),
    refund: nullable(refundProgressSchema, {
      description: "Null if no refund is due and none was reported.",
    }),
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
        "Return bookings with exactly this id, reference, contact e-mail address, flight number or last name of a passenger, ignoring case. Only for admins.",
        "KXQWZA",
      ),
    ),
  }),
);
