import type { Static } from "@sinclair/typebox";

import {
  amount,
  currencySchema,
  instant,
  listOf,
  nullable,
  prefixedId,
  resource,
  text,
  word,
} from "../../web/schema.ts";
import { refundStatuses } from "../model/booking-state.ts";
import { paymentStatuses, payoutStatuses } from "../model/payment.ts";

const reportedFields = {
  amount: nullable(amount("In major units.", 999), "In major units; null if it cannot be read."),
  currency: nullable(currencySchema, "ISO 4217 code; null if it cannot be read."),
  provider: text("The provider that reported it.", "payment_processor"),
  createdAt: instant("When it was reported."),
  eventId: prefixedId("evt_", "The event that reports it. Retention may have deleted it."),
};

export const paymentSchema = resource("Payment", "A payment that a provider reported.", {
  ...reportedFields,
  status: word(
    paymentStatuses,
    "`confirmed`: it confirmed the booking. `mismatch`: not the price. `unseated`: too late, and no seats are left. `surplus`: the booking was paid before. `disputed`: the customer's bank wants it back.",
  ),
});

export interface PaymentView extends Static<typeof paymentSchema> {}

export const payoutSchema = resource(
  "Payout",
  "A refund that a provider reported or an admin recorded. The amount is the sum of all refunds of the payment so far.",
  {
    ...reportedFields,
    provider: text(
      "The provider that reported it; `bookings` if an admin recorded it.",
      "payment_processor",
    ),
    status: word(
      payoutStatuses,
      "`refund_failed`: it no longer counts; the amount is its own. `corrected`: an admin lowered the sum. `overrefunded`: more than was paid. `unmatched`: of another payment. Neither is counted.",
    ),
  },
);

const refundSums = {
  amount: amount("What is due, in major units."),
  refunded: amount("What was refunded, in major units."),
  currency: currencySchema,
  status: word(refundStatuses, "Its progress."),
};

export const refundSumsSchema = resource(
  "RefundSums",
  "The refund due, and the amount refunded so far. Only for admins, and if there is a refund.",
  refundSums,
);

export interface RefundSums extends Static<typeof refundSumsSchema> {}

export const refundProgressSchema = resource(
  "RefundProgress",
  "The refund due, and the amount refunded so far.",
  { ...refundSums, payouts: listOf(payoutSchema, "Oldest first.") },
);

export interface RefundProgress extends Static<typeof refundProgressSchema> {}
