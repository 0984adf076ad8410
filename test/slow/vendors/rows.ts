import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";

import { at, itemsAt, type JsonObject } from "../../../src/base/payload.ts";

import { sdk } from "./sdks.ts";

/** A delivery as a service sends it. */
export interface Delivery {
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A header, or an empty text. */
  readonly header: (name: string) => string;
  readonly body: string;
  /** What is configured: the secret or the public key. */
  readonly secret: string;
  /** What a service with fetched keys publishes. */
  readonly jwks: JSONWebKeySet;
}

/** A service, and what its package for receivers says. */
export interface Row {
  /** A built-in provider or a file of the catalogue. */
  readonly provider: string;
  /** Whether the package accepts the delivery: it returns false or throws if not. */
  readonly accepts: (delivery: Delivery) => unknown;
  /** The event whose samples the package rejects, against the vendor's documentation. */
  readonly wrongAbout?: string;
  /** The headers with which the package signs, if it can. */
  readonly signs?: (delivery: Delivery, at: Date) => Promise<object> | object;
  /** What the service's own retry changes besides the signed time: headers that it adds, and the body. */
  readonly retry?: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: (body: JsonObject) => JsonObject;
  };
  /** Where the package declares the names of the events: the file, and a name in it. */
  readonly names?: readonly [file: string, name: RegExp];
  /** Nothing tells a retry from the next event with the same body, so it is stored as one. */
  readonly retryIsNew?: boolean;
}

const seconds = (at: Date): number => Math.floor(at.getTime() / 1_000);

/** Replaces a value wherever it is in a body. */
const replacing = (from: string, to: string) => (body: JsonObject) =>
  JSON.parse(JSON.stringify(body).replaceAll(from, to));

const stripe = () => new (sdk("stripe"))("sk_test_1").webhooks;
const octokit = (secret: string) => new (sdk("@octokit/webhooks").Webhooks)({ secret });

/** Standard Webhooks, and Svix with other names of the headers. */
function standard(name: "svix" | "standardwebhooks", prefix: string): Omit<Row, "provider"> {
  const webhook = (secret: string) => new (sdk(name).Webhook)(secret);
  return {
    accepts: ({ secret, body, headers }) => webhook(secret).verify(body, headers),
    signs: ({ secret, body, header }, at) => ({
      [`${prefix}-timestamp`]: String(seconds(at)),
      [`${prefix}-signature`]: webhook(secret).sign(header(`${prefix}-id`), at, body),
    }),
  };
}

async function shopifyAccepts({ secret, url, headers, body }: Delivery): Promise<boolean> {
  sdk("@shopify/shopify-api/adapters/web-api");
  const { webhooks } = sdk("@shopify/shopify-api").shopifyApi({
    apiKey: "key",
    apiSecretKey: secret,
    apiVersion: "2026-10",
    hostName: "hooks.example.com",
    isEmbeddedApp: false,
    logger: { level: 0 },
  });
  const rawRequest = new Request(url, { method: "POST", headers, body });
  return (await webhooks.validate({ rawBody: body, rawRequest })).valid;
}

async function telegramAccepts({ secret, url, headers, body }: Delivery): Promise<boolean> {
  const grammy = sdk("grammy");
  const botInfo = { id: 1, is_bot: true, first_name: "Bot", username: "a_bot" };
  const bot = new grammy.Bot("1:a", { botInfo });
  const callback = grammy.webhookCallback(bot, "std/http", { secretToken: secret });
  return (await callback(new Request(url, { method: "POST", headers, body }))).status === 200;
}

/** The steps in Plaid's documentation, for which its package has no function. */
async function plaidAccepts({ header, jwks, body }: Delivery): Promise<boolean> {
  const options = { algorithms: ["ES256"], maxTokenAge: "5 min" };
  const token = header("plaid-verification");
  const { payload } = await jwtVerify(token, createLocalJWKSet(jwks), options);
  const hash = new Bun.CryptoHasher("sha256").update(body).digest("hex");
  return payload["request_body_sha256"] === hash;
}

function snsAccepts({ body }: Delivery): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const validator = new (sdk("sns-validator"))(/^localhost:\d+$/);
  validator.validate(JSON.parse(body), (error) => resolve(error === null));
  return promise;
}

const packages: Readonly<Record<string, Omit<Row, "provider">>> = {
  payment_processor: {
    accepts: ({ body, secret, header }) =>
      stripe().constructEventAsync(
        body,
        header("stripe-signature") || header("x-payment-signature"),
        secret,
      ),
    signs: async ({ body, secret }, at) => ({
      "stripe-signature": await stripe().generateTestHeaderStringAsync({
        payload: body,
        secret,
        timestamp: seconds(at),
      }),
    }),
  },
  code_host: {
    accepts: ({ body, secret, header }) =>
      octokit(secret).verify(
        body,
        header("x-hub-signature-256") || header("x-codehost-signature-256"),
      ),
    signs: async ({ body, secret }) => ({
      "x-hub-signature-256": await octokit(secret).sign(body),
    }),
  },
  svix: standard("svix", "svix"),
  standard_webhooks: standard("standardwebhooks", "webhook"),
  slack: {
    accepts: ({ secret, body, headers, header }) =>
      sdk("@slack/bolt").verifySlackRequest({
        signingSecret: secret,
        body,
        headers: {
          ...headers,
          "x-slack-request-timestamp": Number(header("x-slack-request-timestamp")),
        },
      }),
    retry: { headers: { "x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout" } },
  },
  shopify: { accepts: shopifyAccepts },
  twilio: {
    accepts: ({ secret, url, body, header }) =>
      sdk("twilio").validateRequest(
        secret,
        header("x-twilio-signature"),
        url,
        Object.fromEntries(new URLSearchParams(body)),
      ),
  },
  sendgrid: {
    accepts({ secret, body, header }) {
      const webhook = new (sdk("@sendgrid/eventwebhook").EventWebhook)();
      return webhook.verifySignature(
        webhook.convertPublicKeyToECDSA(secret),
        body,
        header("x-twilio-email-event-webhook-signature"),
        header("x-twilio-email-event-webhook-timestamp"),
      );
    },
  },
  workos: {
    names: ["@workos-inc/node/lib/*.d.cts", /event: '([a-z_]+\.[a-z_.]+)'/g],
    accepts: ({ secret, body, header }) =>
      new (sdk("@workos-inc/node").WorkOS)("sk_1").webhooks.constructEvent({
        payload: JSON.parse(body),
        sigHeader: header("workos-signature"),
        secret,
      }),
  },
  mux: {
    names: ["@mux/mux-node/resources/webhooks/webhooks.d.ts", /type: '([a-z_]+\.[a-z_.]+)'/g],
    accepts: ({ secret, body, headers }) =>
      new (sdk("@mux/mux-node"))({ tokenId: "a", tokenSecret: "b" }).webhooks.verifySignature(
        body,
        headers,
        secret,
      ),
    retry: {
      body: (body) => ({ ...body, attempts: [{ webhook_id: 1, response_status_code: 503 }] }),
    },
  },
  paddle: {
    names: [
      "@paddle/paddle-node-sdk/dist/types/notifications/helpers/types.d.ts",
      /= "([a-z_]+\.[a-z_.]+)"/g,
    ],
    accepts: ({ secret, body, header }) =>
      new (sdk("@paddle/paddle-node-sdk").Paddle)("a").webhooks.isSignatureValid(
        body,
        secret,
        header("paddle-signature"),
      ),
  },
  adyen: {
    names: ["@adyen/api-library/lib/src/typings/**/*.d.ts", /"(balancePlatform\.[a-zA-Z.]+)"/g],
    accepts: ({ secret, body, header }) =>
      new (sdk("@adyen/api-library").hmacValidator)().validateHMACSignature(
        secret,
        header("hmacsignature"),
        body,
      ),
  },
  adyen_payments: {
    accepts({ secret, body }) {
      const validator = new (sdk("@adyen/api-library").hmacValidator)();
      return itemsAt(JSON.parse(body), "notificationItems").every((item) =>
        validator.validateHMAC(at(item, "NotificationRequestItem"), secret),
      );
    },
  },
  square: {
    accepts: ({ secret, url, body, header }) =>
      sdk("square").WebhooksHelper.verifySignature({
        requestBody: body,
        signatureHeader: header("x-square-hmacsha256-signature"),
        signatureKey: secret,
        notificationUrl: url,
      }),
    retry: { headers: { "square-retry-number": "1", "square-retry-reason": "http_timeout" } },
  },
  razorpay: {
    accepts: ({ secret, body, header }) =>
      sdk("razorpay").validateWebhookSignature(body, header("x-razorpay-signature"), secret),
  },
  line: {
    names: ["@line/bot-sdk/dist/webhook/model/*vent.d.ts", /type: "([a-zA-Z]+)"/g],
    accepts: ({ secret, body, header }) =>
      sdk("@line/bot-sdk").validateSignature(body, secret, header("x-line-signature")),
    retry: { body: replacing('"isRedelivery":false', '"isRedelivery":true') },
  },
  telegram: { accepts: telegramAccepts },
  discord: {
    accepts: ({ secret, body, header }) =>
      sdk("discord-interactions").verifyKey(
        body,
        header("x-signature-ed25519"),
        header("x-signature-timestamp"),
        secret,
      ),
  },
  linear: {
    accepts: ({ secret, body, header }) =>
      new (sdk("@linear/sdk/webhooks").LinearWebhookClient)(secret).verify(
        Buffer.from(body),
        header("linear-signature"),
      ),
    retry: { body: (body) => ({ ...body, webhookTimestamp: Date.now() }) },
  },
  plaid: { accepts: plaidAccepts, retryIsNew: true },
  aws_sns: {
    accepts: snsAccepts,
    // It leaves out the Token, which https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html signs.
    wrongAbout: "subscription.ended",
  },
  hubspot: {
    accepts: ({ secret, url, body, header }) =>
      sdk("@hubspot/api-client").Signature.isValid({
        signatureVersion: "v3",
        method: "POST",
        clientSecret: secret,
        requestBody: body,
        url,
        signature: header("x-hubspot-signature-v3"),
        timestamp: Number(header("x-hubspot-request-timestamp")),
      }),
    retry: { body: replacing('"attemptNumber":0', '"attemptNumber":1') },
  },
  gocardless: {
    accepts: ({ secret, body, header }) =>
      sdk("gocardless-nodejs/webhooks").parse(body, secret, header("webhook-signature")),
  },
};

export const rows: readonly Row[] = Object.entries(packages).map(([provider, row]) => ({
  provider,
  ...row,
}));
