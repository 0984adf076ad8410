import adyen from "@adyen/api-library";
import { WebhookEventVerifier } from "@onfido/api";
import { Paddle } from "@paddle/paddle-node-sdk";
import * as gocardlessWebhooks from "gocardless-nodejs/webhooks";
import Razorpay from "razorpay";
import "@shopify/shopify-api/adapters/node";
import { ApiVersion, shopifyApi } from "@shopify/shopify-api";
import { WebhooksHelper } from "square";

import { hmac, seconds } from "./formulas.mjs";

const shopify = {
  name: "shopify",
  oracle: { package: "@shopify/shopify-api", call: "webhooks.validate" },
  secret: "hush-hush-client-secret",
  otherSecret: "hush-hush-client-secreu",
  signatureHeaders: ["x-shopify-hmac-sha256"],
  sign: ({ body, secret }) => ({ "x-shopify-hmac-sha256": hmac("sha256", secret, body, "base64") }),
  async accepts({ body, secret, headers }) {
    const api = shopifyApi({
      apiKey: "unused",
      apiSecretKey: secret,
      hostName: "hooks.example.com",
      apiVersion: Object.values(ApiVersion)[0],
      isEmbeddedApp: false,
      logger: { level: 0 },
    });
    const rawRequest = { method: "POST", url: "/webhooks/shopify", headers };
    const { valid } = await api.webhooks.validate({ rawBody: body, rawRequest });
    return valid;
  },
  deliveries: [
    {
      title: "an order",
      event: "orders/create",
      headers: {
        "x-shopify-topic": "orders/create",
        "x-shopify-shop-domain": "acme.myshopify.com",
        "x-shopify-api-version": "2026-10",
        "x-shopify-webhook-id": "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043",
        "x-shopify-event-id": "98880550-7158-44d4-b7cd-2c97c8a091b5",
        "x-shopify-triggered-at": "2026-11-22T11:59:58.123456789Z",
      },
      body: {
        id: 5501234567890,
        admin_graphql_api_id: "gid://shopify/Order/5501234567890",
        name: "#1001",
        order_number: 1001,
        email: "zoë@example.net",
        created_at: "2026-11-22T06:59:57-05:00",
        currency: "EUR",
        total_price: "42.00",
        financial_status: "paid",
        order_status_url: "https://acme.myshopify.com/548380009/orders/b1946ac9/authenticate",
        customer: { first_name: "Zoë", last_name: "Example" },
      },
    },
  ],
};

const square = {
  name: "square",
  oracle: { package: "square", call: "WebhooksHelper.verifySignature" },
  secret: "asdf1234",
  otherSecret: "asdf1235",
  signatureHeaders: ["x-square-hmacsha256-signature"],
  sign: ({ url, body, secret }) => ({
    "x-square-hmacsha256-signature": hmac("sha256", secret, url + body, "base64"),
  }),
  accepts: ({ url, body, secret, headers }) =>
    WebhooksHelper.verifySignature({
      requestBody: body,
      signatureHeader: headers["x-square-hmacsha256-signature"],
      signatureKey: secret,
      notificationUrl: url,
    }),
  deliveries: [
    {
      title: "a payment",
      event: "payment.updated",
      body: {
        merchant_id: "6SSW7HV8K2ST5",
        location_id: "S8GWD5R9QB376",
        type: "payment.updated",
        event_id: "13b867cf-db3d-4b1c-90b6-2f32a9d78124",
        created_at: "2026-11-22T11:59:59.999Z",
        data: {
          type: "payment",
          id: "KkAkhdMsgzn59SM8A89WgKwekxLZY",
          object: {
            payment: {
              id: "KkAkhdMsgzn59SM8A89WgKwekxLZY",
              status: "COMPLETED",
              amount_money: { amount: 4200, currency: "EUR" },
              note: "Tisch 5 – Zoë",
              receipt_url: "https://squareup.com/receipt/preview/KkAkhdMsgzn59SM8A89WgKwekxLZY",
            },
          },
        },
      },
    },
  ],
};

const paddle = {
  name: "paddle",
  oracle: { package: "@paddle/paddle-node-sdk", call: "webhooks.isSignatureValid" },
  secret: "pdl_ntfset_01gkpjp8bkm3tm53kdgkx6sms7_6h3qd3uFSi9YCD3OLYAShQI90XTI5vEI",
  otherSecret: "pdl_ntfset_01gkpjp8bkm3tm53kdgkx6sms7_6h3qd3uFSi9YCD3OLYAShQI90XTI5vEJ",
  signatureHeaders: ["paddle-signature"],
  sign: ({ body, secret }) => ({
    "paddle-signature": `ts=${seconds()};h1=${hmac("sha256", secret, `${seconds()}:${body}`, "hex")}`,
  }),
  accepts: ({ body, secret, headers }) =>
    new Paddle("unused").webhooks.isSignatureValid(body, secret, headers["paddle-signature"]),
  deliveries: [
    {
      title: "a subscription that is past due",
      event: "subscription.past_due",
      body: {
        event_id: "evt_01jd9q0y5y1s2n3m4k5j6h7g8f",
        event_type: "subscription.past_due",
        occurred_at: "2026-11-22T11:59:58.123456Z",
        notification_id: "ntf_01jd9q12v3w4x5y6z7a8b9c0d1",
        data: {
          id: "sub_01hv8x29kz0t586xy6zn1a62ny",
          status: "past_due",
          customer_id: "ctm_01hv6y1jedq4p1n0yqn5ba3ky4",
          currency_code: "EUR",
          items: [{ status: "active", quantity: 1, price: { name: "Monatlich – Größe L" } }],
        },
      },
    },
  ],
};

const razorpay = {
  name: "razorpay",
  oracle: { package: "razorpay", call: "validateWebhookSignature" },
  secret: "123456",
  otherSecret: "123457",
  signatureHeaders: ["x-razorpay-signature"],
  sign: ({ body, secret }) => ({ "x-razorpay-signature": hmac("sha256", secret, body, "hex") }),
  accepts: ({ body, secret, headers }) =>
    Razorpay.validateWebhookSignature(body, headers["x-razorpay-signature"], secret),
  deliveries: [
    {
      title: "a captured payment",
      event: "payment.captured",
      headers: { "x-razorpay-event-id": "Oyf7ZbPlvZqNqM" },
      body: {
        entity: "event",
        account_id: "acc_BFQ7uQEaa7j2z7",
        event: "payment.captured",
        contains: ["payment"],
        payload: {
          payment: {
            entity: {
              id: "pay_DESlfW9H8K9uqM",
              entity: "payment",
              amount: 4200,
              currency: "INR",
              status: "captured",
              order_id: "order_DESlLckIVRkHWj",
              method: "upi",
              description: "चाय ☕",
              email: "kim@example.net",
            },
          },
        },
        created_at: 1795348798,
      },
    },
    {
      title: "the vector of the SDK's tests",
      source:
        "https://github.com/razorpay/razorpay-node/blob/master/test/utils/razorpay-utils.spec.js",
      signed: {
        "x-razorpay-signature": "2fe04e22977002e6c7cb553adab8b460cb9e2a4970d5953cb27a8472752e3bbc",
      },
      body: '{"a":1,"b":2,"c":{"d":3}}',
    },
  ],
};

const gocardless = {
  name: "gocardless",
  oracle: { package: "gocardless-nodejs", call: "webhooks.verifySignature" },
  secret: "ED7D658C-D8EB-4941-948B-3973214F2D49",
  otherSecret: "ED7D658C-D8EB-4941-948B-3973214F2D48",
  signatureHeaders: ["webhook-signature"],
  sign: ({ body, secret }) => ({ "webhook-signature": hmac("sha256", secret, body, "hex") }),
  accepts({ body, secret, headers }) {
    gocardlessWebhooks.verifySignature(body, secret, headers["webhook-signature"]);
    return true;
  },
  deliveries: [
    {
      title: "a failed payment",
      event: "payments.failed",
      body: {
        events: [
          {
            id: "EV00BD05S5VM2T",
            created_at: "2026-11-22T11:59:57.000Z",
            resource_type: "payments",
            action: "failed",
            links: { payment: "PM00456KHA" },
            details: {
              origin: "bank",
              cause: "refer_to_payer",
              description: "The customer’s account had insufficient funds",
            },
          },
        ],
        meta: { webhook_id: "WB01BZ35KTRKVP" },
      },
    },
  ],
};

const adyenKey = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";
const adyenVendor = {
  name: "adyen",
  oracle: { package: "@adyen/api-library", call: "hmacValidator.validateHMACSignature" },
  secret: adyenKey,
  otherSecret: adyenKey.replace(/6$/, "7"),
  signatureHeaders: ["hmacsignature"],
  sign: ({ body, secret }) => ({
    hmacsignature: new adyen.hmacValidator().calculateHmac(body, secret),
    protocol: "HmacSHA256",
  }),
  accepts: ({ body, secret, headers }) =>
    new adyen.hmacValidator().validateHMACSignature(secret, headers.hmacsignature, body),
  deliveries: [
    {
      title: "a transfer of the balance platform",
      event: "balancePlatform.transfer.updated",
      body: {
        data: {
          id: "JN4227222422265",
          balancePlatform: "YOUR_BALANCE_PLATFORM",
          amount: { currency: "EUR", value: 4200 },
          category: "bank",
          status: "booked",
          description: "Miete – Zoë",
          creationDate: "2026-11-22T12:59:30+01:00",
        },
        environment: "test",
        timestamp: "2026-11-22T11:59:59.000Z",
        type: "balancePlatform.transfer.updated",
      },
    },
  ],
};

const onfido = {
  name: "onfido",
  oracle: { package: "@onfido/api", call: "WebhookEventVerifier.readPayload" },
  secret: "onfido-webhook-token",
  otherSecret: "onfido-webhook-tokem",
  signatureHeaders: ["x-sha2-signature"],
  sign: ({ body, secret }) => ({ "x-sha2-signature": hmac("sha256", secret, body, "hex") }),
  accepts({ body, secret, headers }) {
    new WebhookEventVerifier(secret).readPayload(body, headers["x-sha2-signature"]);
    return true;
  },
  deliveries: [
    {
      title: "a completed check",
      event: "check.completed",
      body: {
        payload: {
          resource_type: "check",
          action: "check.completed",
          object: {
            id: "5345badd-f4bf-4240-9f3b-ffb998bda09e",
            status: "complete",
            completed_at_iso8601: "2026-11-22T11:59:58Z",
            href: "https://api.onfido.com/v3.6/checks/5345badd-f4bf-4240-9f3b-ffb998bda09e",
          },
        },
      },
    },
  ],
};

export const payments = [shopify, square, paddle, razorpay, gocardless, adyenVendor, onfido];
