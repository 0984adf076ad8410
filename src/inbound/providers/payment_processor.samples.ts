import type { Sample } from "./provider.ts";

/** The envelope of every event. */
const request =
  (type: string, prefix: string, object: string, fields: object): Sample =>
  ({ id, now }) => ({
    headers: { "User-Agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)" },
    body: {
      id: `evt_${id.slice(-12)}`,
      object: "event",
      api_version: "2026-08-27.basil",
      created: Math.floor(now.getTime() / 1_000),
      type,
      livemode: true,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      data: {
        object: {
          id: `${prefix}_${id.slice(-12)}`,
          object,
          livemode: true,
          currency: "eur",
          ...fields,
        },
      },
    },
  });

const session = {
  amount_total: 4_200,
  client_reference_id: null,
  customer_details: { email: "kim@example.net", name: "Kim" },
  metadata: {},
  mode: "payment",
  payment_intent: null,
  payment_link: null,
  status: "complete",
};

type Row = readonly [type: string, prefix: string, object: string, fields: object];

const dispute = {
  amount: 4_200,
  charge: "ch_1",
  metadata: {},
  payment_intent: null,
  evidence: { customer_email_address: "kim@example.net" },
  reason: "fraudulent",
};

const failedRefund = {
  amount: 4_200,
  charge: "ch_1",
  failure_reason: "expired_or_canceled_card",
  metadata: {},
  payment_intent: null,
  status: "failed",
};

const others: readonly Row[] = [
  ["charge.dispute.funds_withdrawn", "du", "dispute", { ...dispute, status: "needs_response" }],
  ["charge.dispute.funds_reinstated", "du", "dispute", { ...dispute, status: "won" }],
  ["charge.dispute.closed", "du", "dispute", { ...dispute, status: "lost" }],
  ["refund.failed", "re", "refund", failedRefund],
  ["refund.updated", "re", "refund", failedRefund],
  ["charge.refund.updated", "re", "refund", failedRefund],
  [
    "radar.early_fraud_warning.created",
    "issfr",
    "radar.early_fraud_warning",
    { charge: "ch_1", fraud_type: "made_with_stolen_card" },
  ],
  ["review.opened", "prv", "review", { charge: "ch_1", reason: "rule" }],
  ["payout.failed", "po", "payout", { amount: 4_200, failure_message: "The account is closed." }],
  [
    "invoice.payment_action_required",
    "in",
    "invoice",
    { amount_due: 4_200, number: "ACME-0079", customer: "cus_1" },
  ],
  [
    "invoice.finalization_failed",
    "in",
    "invoice",
    {
      amount_due: 4_200,
      customer: "cus_1",
      last_finalization_error: { message: "The tax location is missing." },
    },
  ],
  [
    "invoice.marked_uncollectible",
    "in",
    "invoice",
    { amount_due: 4_200, number: "ACME-0080", customer: "cus_1" },
  ],
  [
    "checkout.session.async_payment_succeeded",
    "cs",
    "checkout.session",
    { ...session, payment_status: "paid" },
  ],
  [
    "checkout.session.async_payment_failed",
    "cs",
    "checkout.session",
    { ...session, payment_status: "unpaid" },
  ],
  [
    "setup_intent.setup_failed",
    "seti",
    "setup_intent",
    { customer: "cus_1", last_setup_error: { message: "Your card was declined." } },
  ],
  ["customer.subscription.paused", "sub", "subscription", { customer: "cus_1" }],
];

export const samples: Readonly<Record<string, Sample>> = {
  "payment_intent.succeeded": request("payment_intent.succeeded", "pi", "payment_intent", {
    amount: 4_200,
    amount_received: 4_200,
    receipt_email: "kim@example.net",
    status: "succeeded",
  }),
  "payment_intent.payment_failed": request(
    "payment_intent.payment_failed",
    "pi",
    "payment_intent",
    {
      amount: 4_200,
      amount_received: 0,
      receipt_email: "kim@example.net",
      last_payment_error: { code: "card_declined", message: "Your card was declined." },
      status: "requires_payment_method",
    },
  ),
  "charge.refunded": request("charge.refunded", "ch", "charge", {
    amount: 4_200,
    amount_refunded: 4_200,
    billing_details: { email: "kim@example.net", name: "Kim" },
    refunded: true,
  }),
  "charge.dispute.created": request("charge.dispute.created", "du", "dispute", {
    ...dispute,
    status: "needs_response",
  }),
  "invoice.paid": request("invoice.paid", "in", "invoice", {
    amount_due: 4_200,
    amount_paid: 4_200,
    customer_email: "kim@example.net",
    number: "ACME-0077",
    status: "paid",
  }),
  "invoice.payment_failed": request("invoice.payment_failed", "in", "invoice", {
    amount_due: 4_200,
    amount_paid: 0,
    attempt_count: 1,
    customer_email: "kim@example.net",
    number: "ACME-0078",
    status: "open",
  }),
  "checkout.session.completed": request("checkout.session.completed", "cs", "checkout.session", {
    ...session,
    payment_status: "paid",
  }),
  "customer.subscription.deleted": request("customer.subscription.deleted", "sub", "subscription", {
    customer: "cus_1",
    cancellation_details: { reason: "cancellation_requested" },
    status: "canceled",
  }),
  ...Object.fromEntries(others.map((row) => [row[0], request(...row)])),
};
