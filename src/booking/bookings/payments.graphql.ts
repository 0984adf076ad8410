import type { Builder } from "../../web/graphql/builder.ts";
import { refundStatuses } from "../booking-state.ts";

import {
  paymentStatuses,
  type PaymentView,
  payoutStatuses,
  type PayoutView,
  type RefundProgress,
} from "./payment-view.ts";

/** The payments and refunds of bookings. */
export function moneyTypes(builder: Builder) {
  const PaymentType = builder.objectRef<PaymentView>("Payment").implement({
    description: "A payment that a provider reported.",
    fields: (t) => ({
      amount: t.expose("amount", {
        type: "Money",
        nullable: true,
        description: "In major units; null if it cannot be read.",
      }),
      currency: t.exposeString("currency", {
        nullable: true,
        description: "ISO 4217 code; null if it cannot be read.",
      }),
      status: t.expose("status", {
        type: builder.enumType("PaymentStatus", {
          description:
            "Result of a payment. `mismatch`: not the price. `unseated`: too late, and no seats are left. `surplus`: the booking was paid before.",
          values: paymentStatuses,
        }),
        description: "Its result.",
      }),
      provider: t.exposeString("provider", { description: "The provider that reported it." }),
      createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was reported." }),
      eventId: t.exposeID("eventId", { description: "Id of the provider's event." }),
    }),
  });
  const PayoutType = builder.objectRef<PayoutView>("Payout").implement({
    description: "A refund that a provider reported.",
    fields: (t) => ({
      amount: t.expose("amount", {
        type: "Money",
        nullable: true,
        description: "The sum of all refunds of the payment so far; null if it cannot be read.",
      }),
      currency: t.exposeString("currency", {
        nullable: true,
        description: "ISO 4217 code; null if it cannot be read.",
      }),
      status: t.expose("status", {
        type: builder.enumType("PayoutStatus", {
          description:
            "Result of a refund. `overrefunded`: more than was paid. `unmatched`: of another payment. Neither is counted.",
          values: payoutStatuses,
        }),
        description: "Its result.",
      }),
      provider: t.exposeString("provider", { description: "The provider that reported it." }),
      createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was reported." }),
      eventId: t.exposeID("eventId", { description: "Id of the provider's event." }),
    }),
  });
  const RefundProgressType = builder.objectRef<RefundProgress>("RefundProgress").implement({
    description: "The refund due, and the amount refunded so far.",
    fields: (t) => ({
      amount: t.expose("amount", { type: "Money", description: "Amount due." }),
      refunded: t.expose("refunded", { type: "Money", description: "Amount refunded so far." }),
      currency: t.exposeString("currency", { description: "ISO 4217 code, for example USD." }),
      status: t.expose("status", {
        type: builder.enumType("RefundStatus", {
          description: "Progress of a refund. `none`: nothing is due.",
          values: refundStatuses,
        }),
        description: "Its progress.",
      }),
      payouts: t.field({
        type: [PayoutType],
        description: "What providers reported, oldest first.",
        resolve: ({ payouts }) => payouts,
      }),
    }),
  });
  return { PaymentType, RefundProgressType };
}
