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
    amount: 4_200,
    charge: "ch_1",
    evidence: { customer_email_address: "kim@example.net" },
    reason: "fraudulent",
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
    amount_total: 4_200,
    customer_details: { email: "kim@example.net", name: "Kim" },
    mode: "payment",
    payment_status: "paid",
  }),
  "customer.subscription.deleted": request("customer.subscription.deleted", "sub", "subscription", {
    customer: "cus_1",
    cancellation_details: { reason: "cancellation_requested" },
    status: "canceled",
  }),
};
