import { Type } from "@sinclair/typebox";

import { type ServiceDecimals, unitsText } from "../../base/money.ts";
import {
  at,
  firstLineAt,
  idAt,
  isoTimeAt,
  joined,
  type JsonObject,
  objectAt,
  textAt,
  unixSecondsAt,
} from "../../base/payload.ts";
import type { DataFields } from "../../event/data-fields.ts";
import type { EventContent } from "../../event/event.ts";
import type { NewNotification, Severity } from "../../event/new-notification.ts";
import { text } from "../../web/schema.ts";

import { dataOf, eventNameAt, ignoredTitle, typeName } from "./event-fields.ts";
import { samples } from "./payment_processor.samples.ts";
import type { Interpretation, Provider, VerifiedRequest } from "./provider.ts";

interface Listed {
  readonly label: string;
  /** The payload field that holds the event's amount. */
  readonly amount: string | null;
  readonly severity: Severity;
}
type Row = readonly [type: string, label: string, amount: string | null, severity: Severity];

/** The events that notify operators. The specification lists none. */
const rows: readonly Row[] = [
  ["payment_intent.succeeded", "Payment succeeded", "amount_received", "success"],
  ["payment_intent.payment_failed", "Payment failed", "amount", "warning"],
  ["charge.refunded", "Charge refunded", "amount_refunded", "info"],
  ["charge.dispute.created", "Dispute opened", "amount", "error"],
  ["charge.dispute.funds_withdrawn", "Funds withdrawn for a dispute", "amount", "error"],
  ["charge.dispute.funds_reinstated", "Funds reinstated after a dispute", "amount", "success"],
  ["charge.dispute.closed", "Dispute closed", "amount", "info"],
  ["refund.failed", "Refund failed", "amount", "error"],
  // Of these, only those about a refund that failed.
  ["refund.updated", "Refund failed", "amount", "error"],
  ["charge.refund.updated", "Refund failed", "amount", "error"],
  ["radar.early_fraud_warning.created", "Early fraud warning", null, "error"],
  ["review.opened", "Payment to review", null, "warning"],
  ["payout.failed", "Payout failed", "amount", "error"],
  ["invoice.paid", "Invoice paid", "amount_paid", "success"],
  ["invoice.payment_failed", "Invoice payment failed", "amount_due", "warning"],
  ["invoice.payment_action_required", "Invoice payment needs action", "amount_due", "warning"],
  ["invoice.finalization_failed", "Invoice not finalized", "amount_due", "error"],
  ["invoice.marked_uncollectible", "Invoice uncollectible", "amount_due", "warning"],
  ["checkout.session.completed", "Checkout completed", "amount_total", "success"],
  ["checkout.session.async_payment_succeeded", "Checkout paid", "amount_total", "success"],
  ["checkout.session.async_payment_failed", "Checkout failed", "amount_total", "warning"],
  ["setup_intent.setup_failed", "Setup of a payment method failed", null, "warning"],
  ["customer.subscription.paused", "Subscription paused", null, "warning"],
  ["customer.subscription.deleted", "Subscription ended", null, "warning"],
];
const listed: ReadonlyMap<string | null, Listed> = new Map(
  rows.map(([type, label, amount, severity]) => [type, { label, amount, severity }]),
);

/** Otherwise it counts as ISO 4217 does: https://docs.stripe.com/currencies#special-cases. */
const decimals: ServiceDecimals = { ISK: 2, MGA: 0, UGX: 2 };

const bookingPlaces = {
  bookingReference: ["/data/object/metadata/booking"],
  currency: "/data/object/currency",
} as const;

/**
 * A session of Checkout or of a Payment Link. Its payment intent has none of its metadata.
 * https://docs.stripe.com/api/checkout/sessions/object
 */
const session = {
  kind: "paid",
  bookingReference: [...bookingPlaces.bookingReference, "/data/object/client_reference_id"],
  currency: bookingPlaces.currency,
  amount: "/data/object/amount_total",
  payment: "/data/object/payment_intent",
} as const;

const failedRefund = {
  kind: "refund_failed",
  ...bookingPlaces,
  amount: "/data/object/amount",
  payment: "/data/object/payment_intent",
  part: "/data/object/id",
  note: { text: "failed", place: "/data/object/failure_reason" },
} as const;

/** A cancelled refund pays nothing back either. */
const updatedRefund = {
  ...failedRefund,
  states: {
    place: "/data/object/status",
    kinds: { failed: "refund_failed", canceled: "refund_failed" },
  },
} as const;

const disputed = (text: string, place: "reason" | "status") =>
  ({
    ...failedRefund,
    kind: "disputed",
    note: { text, place: `/data/object/${place}` },
  }) as const;

const data = {
  amount: text("The amount with its currency.", "EUR 42.00"),
  reason: text("Why it failed or is disputed."),
  invoice: text("The number of the invoice."),
  account: text("The connected account."),
  test: Type.Literal(true, { description: "Present if it is no real money." }),
} as const satisfies DataFields;

/** Stripe: https://docs.stripe.com/webhooks. The key is the whole secret, including `whsec_`. */
export const paymentProcessor: Provider = {
  id: "payment_processor",
  displayName: "Stripe",
  signature: {
    kind: "hmac",
    algorithm: "sha256",
    encoding: "hex",
    from: ["header.x-payment-signature", "header.stripe-signature"],
    items: { separator: ",", signature: "v1=" },
    timestamp: { item: "t=", unit: "seconds", toleranceSeconds: 300 },
    signs: "{timestamp}.{body}",
  },
  deliveryIdIsSigned: true,
  secretPrefix: "whsec_",
  settings: "https://dashboard.stripe.com/webhooks",
  docs: "https://docs.stripe.com/webhooks",
  maxBodyBytes: 5 * 1024 * 1024,
  data,
  interpret,
  payments: {
    unit: "minor",
    // https://docs.stripe.com/api/events/object#event_object-livemode
    test: { place: "/livemode", value: false },
    // A connected account sets the metadata of its own payments: https://docs.stripe.com/connect/webhooks
    foreignAccount: "/account",
    decimals,
    events: {
      "payment_intent.succeeded": {
        ...bookingPlaces,
        kind: "paid",
        amount: "/data/object/amount_received",
        payment: "/data/object/id",
      },
      "payment_intent.payment_failed": {
        ...bookingPlaces,
        kind: "failed",
        amount: "/data/object/amount",
        payment: "/data/object/id",
      },
      "checkout.session.completed": {
        ...session,
        states: {
          place: "/data/object/payment_status",
          // `no_payment_required` has the amount 0: it confirms what costs nothing.
          kinds: { paid: "paid", no_payment_required: "paid", unpaid: "pending" },
        },
      },
      "checkout.session.async_payment_succeeded": session,
      "checkout.session.async_payment_failed": { ...session, kind: "failed" },
      // A charge has a copy of the metadata of its payment intent.
      "charge.refunded": {
        ...bookingPlaces,
        kind: "refunded",
        amount: "/data/object/amount_refunded",
        payment: "/data/object/payment_intent",
      },
      "refund.failed": failedRefund,
      "refund.updated": updatedRefund,
      "charge.refund.updated": updatedRefund,
      "charge.dispute.created": disputed("opened", "reason"),
      "charge.dispute.funds_withdrawn": disputed("funds withdrawn", "reason"),
      "charge.dispute.funds_reinstated": disputed("funds reinstated", "status"),
      "charge.dispute.closed": disputed("closed", "status"),
    },
  },
  notify: [notifyPayment],
  samples,
};

function interpret({ payload }: VerifiedRequest): Interpretation {
  const name = eventNameAt(payload, "type", listed);
  // Thin events (`v2.core.event`) reference an object and do not contain it.
  const isThin = (at(payload, "object") ?? "event") !== "event";
  const id = idAt(payload, "id");
  const thing = objectAt(payload, "data", "object");
  const entry = isThin || isOtherUpdate(name, thing) ? undefined : listed.get(name);
  const thingId = idAt(thing, "id");
  const isTest = at(payload, "livemode") === false;
  const amount = entry?.amount ? amountAt(thing, entry.amount) : null;
  const customer = customerOf(thing);
  const reason = reasonOf(thing);
  return {
    status: entry === undefined ? "ignored" : "accepted",
    type: typeName(name),
    deliveryId: id,
    // Thin events have the time as ISO 8601 text.
    occurredAt: unixSecondsAt(payload, "created") ?? isoTimeAt(payload, "created"),
    subject: thingId && `${typeName(textAt(thing, "object"))}/${thingId}`,
    title: entry
      ? joined(
          " · ",
          joined(": ", entry.label, amount ?? thingId),
          customer,
          reason,
          isTest ? "test mode" : null,
        )
      : ignoredTitle(typeName(name)),
    url:
      id && `https://dashboard.stripe.com/${isTest ? "test/" : ""}events/${encodeURIComponent(id)}`,
    actor: customer,
    data: dataOf(data, {
      amount,
      reason,
      invoice: firstLineAt(thing, "number"),
      account: idAt(payload, "account"),
      test: isTest ? true : null,
    }),
  };
}

/** Whether a refund was updated otherwise than by its failure. */
function isOtherUpdate(name: string | null, refund: JsonObject): boolean {
  const status = textAt(refund, "status");
  const isUpdate = name === "refund.updated" || name === "charge.refund.updated";
  return isUpdate && status !== null && !Object.hasOwn(updatedRefund.states.kinds, status);
}

/** The amount as `EUR 1,234.50`, or null. */
function amountAt(thing: JsonObject, field: string): string | null {
  const amount = at(thing, field);
  const currency = textAt(thing, "currency")?.toUpperCase() ?? "";
  if (!Number.isSafeInteger(amount) || !/^[A-Z]{3}$/.test(currency)) return null;
  return unitsText(Number(amount), currency, decimals);
}

/** The customer's e-mail address, otherwise the id. The member depends on the object, and ids may be expanded. */
function customerOf(thing: JsonObject): string | null {
  return (
    firstLineAt(thing, "customer_email") ??
    firstLineAt(thing, "customer_details", "email") ??
    firstLineAt(thing, "billing_details", "email") ??
    firstLineAt(thing, "receipt_email") ??
    firstLineAt(thing, "evidence", "customer_email_address") ??
    idAt(thing, "customer") ??
    idAt(thing, "customer", "id")
  );
}

/** Why a payment failed or was disputed, or a subscription ended. */
function reasonOf(thing: JsonObject): string | null {
  return (
    firstLineAt(thing, "last_payment_error", "message") ??
    firstLineAt(thing, "last_setup_error", "message") ??
    firstLineAt(thing, "last_finalization_error", "message") ??
    firstLineAt(thing, "failure_message") ??
    firstLineAt(thing, "failure_reason") ??
    firstLineAt(thing, "fraud_type") ??
    firstLineAt(thing, "reason") ??
    firstLineAt(thing, "cancellation_details", "reason")
  );
}

function notifyPayment(event: EventContent): NewNotification {
  return {
    title: event.title,
    text: joined(" · ", event.subject, textAt(event.data, "invoice")),
    url: event.url,
    severity: listed.get(event.type)?.severity ?? "info",
  };
}
