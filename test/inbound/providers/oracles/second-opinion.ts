import { createPublicKey, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { crc32 } from "node:zlib";

import { importSPKI, jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";

// What each service documents about its signatures, written a second time and computed by programs that are
// not ours: openssl, jose and standardwebhooks.

/** A signed request, as the service sends it. */
export interface Signed {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  /** The secret, or what is configured in its place. */
  readonly secret: string;
  /** The service's public key (PEM), if it has one. */
  readonly publicKey: string | null;
}

/** Whether a program that is not ours accepts the request. */
type Opinion = (request: Signed) => boolean | Promise<boolean>;

type Text = (request: Signed & { readonly header: (name: string) => string }) => string;
type Encoding = "hex" | "base64" | "base64url";

function openssl(args: readonly string[], input: string | Uint8Array): Buffer {
  const { stdout, exitCode } = Bun.spawnSync(["openssl", ...args], { stdin: Buffer.from(input) });
  return exitCode === 0 ? Buffer.from(stdout) : Buffer.alloc(0);
}

function mac(algorithm: string, key: Uint8Array, text: string, encoding: Encoding): string {
  const macOption = `hexkey:${Buffer.from(key).toString("hex")}`;
  const args = ["dgst", `-${algorithm}`, "-mac", "HMAC", "-macopt", macOption, "-binary"];
  return openssl(args, text).toString(encoding);
}

const withHeaders = (request: Signed) => ({
  ...request,
  header: (name: string) => request.headers.get(name) ?? "",
});

/** The header's value is the HMAC of the text, with `form` around it. */
function hmac(
  algorithm: string,
  encoding: Encoding,
  header: string,
  text: Text,
  {
    form = (signature) => signature,
    key = (secret) => Buffer.from(secret),
  }: {
    readonly form?: (signature: string, request: Parameters<Text>[0]) => string;
    readonly key?: (secret: string) => Uint8Array;
  } = {},
): Opinion {
  return (given) => {
    const request = withHeaders(given);
    const signature = mac(algorithm, key(given.secret), text(request), encoding);
    // WorkOS sends a space after the comma.
    return request.header(header).replace(", ", ",") === form(signature, request);
  };
}

const sha256 = (text: string) => openssl(["dgst", "-sha256", "-binary"], text).toString("hex");

const body: Text = (request) => request.body;
const prefixed = (prefix: string) => ({ form: (signature: string) => prefix + signature });

/** The first number after `name` in a header, such as the time in `t=1,v1=…`. */
const partOf = (value: string, name: string) => new RegExp(`${name}=(\\d+)`).exec(value)?.[1] ?? "";

function stripeLike(header: string, encoding: Encoding): Opinion {
  const time = (request: Parameters<Text>[0]) => partOf(request.header(header), "t");
  return hmac("sha256", encoding, header, (request) => `${time(request)}.${request.body}`, {
    form: (signature, request) => `t=${time(request)},v1=${signature}`,
  });
}

/** Writes what openssl can only read from files, for as long as `use` takes. */
function withFiles<Result>(
  contents: readonly (string | Uint8Array)[],
  use: (paths: readonly string[]) => Result,
): Result {
  const folder = mkdtempSync(`${tmpdir()}/second-opinion-`);
  try {
    const files = contents.map((content, index) => ({ path: `${folder}/${index}`, content }));
    for (const { path, content } of files) writeFileSync(path, content);
    return use(files.map(({ path }) => path));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `openssl dgst -verify`: ECDSA in DER, and RSASSA-PKCS1-v1_5. */
function publicKeyVerifies({ publicKey }: Signed, text: string, signature: string): boolean {
  const files = [publicKey ?? "", Buffer.from(signature, "base64")];
  return withFiles(files, ([key = "", value = ""]) => {
    const args = ["dgst", "-sha256", "-verify", key, "-signature", value];
    return openssl(args, text).toString().trim() === "Verified OK";
  });
}

/** `openssl pkeyutl`, which reads the text from a file for Ed25519. */
function ed25519Verifies({ publicKey }: Signed, text: string, hex: string): boolean {
  const files = [publicKey ?? "", Buffer.from(hex, "hex"), text];
  return withFiles(files, ([key = "", signature = "", input = ""]) => {
    const args = ["pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin"];
    const given = ["-sigfile", signature, "-in", input];
    return openssl([...args, ...given], "")
      .toString()
      .includes("Verified Successfully");
  });
}

function standardWebhook(prefix: string): Opinion {
  return (given) => {
    const { header } = withHeaders(given);
    const names = ["id", "timestamp", "signature"];
    const headers = Object.fromEntries(
      names.map((name) => [`webhook-${name}`, header(`${prefix}-${name}`)]),
    );
    new Webhook(given.secret).verify(given.body, headers);
    return true;
  };
}

/** A Standard Webhook whose secret is the key itself. */
const textWebhook: Opinion = (given) =>
  standardWebhook("webhook")({ ...given, secret: Buffer.from(given.secret).toString("base64") });

const sortedForm: Text = (request) =>
  [...new URLSearchParams(request.body)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flat()
    .join("");

const snsText: Text = (request) => {
  const message: Record<string, string> = JSON.parse(request.body);
  const names = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token"];
  return [...names, "TopicArn", "Type"]
    .filter((name) => name in message)
    .map((name) => `${name}\n${message[name]}\n`)
    .join("");
};

const secretInHeader =
  (header: string, prefix = ""): Opinion =>
  (given) =>
    withHeaders(given).header(header) === prefix + given.secret;

const basicAuth: Opinion = (given) =>
  withHeaders(given).header("authorization") ===
  `Basic ${openssl(["base64", "-A"], given.secret).toString()}`;

/** A token in the header Authorization that names the URL. It does not cover the body. */
async function tokenInHeader(
  given: Signed,
  algorithm: string,
  key: KeyObject | Uint8Array,
  [claim, value]: readonly [string, unknown] = ["aud", given.url],
): Promise<boolean> {
  const token = withHeaders(given).header("authorization").replace("Bearer ", "");
  const options = { algorithms: [algorithm], audience: given.url };
  const { payload } = await jwtVerify(token, key, options);
  return payload[claim] === value;
}

export const secondOpinions: Readonly<Record<string, Opinion>> = {
  adyen: hmac("sha256", "base64", "hmacsignature", body, { key: (hex) => Buffer.from(hex, "hex") }),
  alertmanager: secretInHeader("authorization", "Bearer "),
  adyen_payments({ body: text, secret }) {
    const [{ NotificationRequestItem: item }] = JSON.parse(text).notificationItems;
    const { pspReference, originalReference, merchantAccountCode, merchantReference } = item;
    const references = [pspReference, originalReference, merchantAccountCode, merchantReference];
    const { amount, eventCode, success } = item;
    const signed = [...references, amount.value, amount.currency, eventCode, success].join(":");
    const key = Buffer.from(secret.length % 2 === 0 ? secret : "", "hex");
    return item.additionalData.hmacSignature === mac("sha256", key, signed, "base64");
  },
  asana: hmac("sha256", "hex", "x-hook-signature", body),
  auth0: secretInHeader("authorization"),
  aws_sns: (given) =>
    publicKeyVerifies(given, snsText(withHeaders(given)), JSON.parse(given.body).Signature),
  azure_devops: basicAuth,
  azure_event_grid: secretInHeader("x-event-grid-secret"),
  bitbucket: hmac("sha256", "hex", "x-hub-signature", body, prefixed("sha256=")),
  box: hmac(
    "sha256",
    "base64",
    "box-signature-primary",
    (request) => request.body + request.header("box-delivery-timestamp"),
  ),
  buildkite: hmac(
    "sha256",
    "hex",
    "x-buildkite-signature",
    (request) => `${partOf(request.header("x-buildkite-signature"), "timestamp")}.${request.body}`,
    {
      form: (signature, { header }) =>
        `timestamp=${partOf(header("x-buildkite-signature"), "timestamp")},signature=${signature}`,
    },
  ),
  cal_com: hmac("sha256", "hex", "x-cal-signature-256", body),
  calendly: stripeLike("calendly-webhook-signature", "hex"),
  chargebee: basicAuth,
  checkout_com: hmac("sha256", "hex", "cko-signature", body),
  circleci: hmac("sha256", "hex", "circleci-signature", body, prefixed("v1=")),
  clerk: standardWebhook("svix"),
  clickup: hmac("sha256", "hex", "x-signature", body),
  customer_io: hmac(
    "sha256",
    "hex",
    "x-cio-signature",
    (request) => `v0:${request.header("x-cio-timestamp")}:${request.body}`,
  ),
  cloudflare: secretInHeader("cf-webhook-auth"),
  datadog: secretInHeader("x-webhook-secret"),
  coinbase_commerce: hmac("sha256", "hex", "x-cc-webhook-signature", body),
  discord: (given) => {
    const { header } = withHeaders(given);
    const text = header("x-signature-timestamp") + given.body;
    return ed25519Verifies(given, text, header("x-signature-ed25519"));
  },
  docusign: hmac("sha256", "base64", "x-docusign-signature-1", body),
  duffel: stripeLike("x-duffel-signature", "hex"),
  facebook: hmac("sha256", "hex", "x-hub-signature-256", body, prefixed("sha256=")),
  elevenlabs: hmac(
    "sha256",
    "hex",
    "elevenlabs-signature",
    (request) => `${partOf(request.header("elevenlabs-signature"), "t")}.${request.body}`,
    {
      form: (signature, { header }) =>
        `t=${partOf(header("elevenlabs-signature"), "t")},v0=${signature}`,
    },
  ),
  forgejo: hmac("sha256", "hex", "x-forgejo-signature", body),
  gitea: hmac("sha256", "hex", "x-gitea-signature", body),
  gitlab: secretInHeader("x-gitlab-token"),
  gitlab_signed: standardWebhook("webhook"),
  google_pubsub: (given) =>
    tokenInHeader(given, "RS256", createPublicKey(given.publicKey ?? ""), ["email", given.secret]),
  gocardless: hmac("sha256", "hex", "webhook-signature", body),
  grafana: hmac("sha256", "hex", "x-grafana-alerting-signature", body),
  heroku: hmac("sha256", "base64", "heroku-webhook-hmac-sha256", body),
  hubspot: hmac(
    "sha256",
    "base64",
    "x-hubspot-signature-v3",
    (request) =>
      `POST${request.url}${request.body}${request.header("x-hubspot-request-timestamp")}`,
  ),
  instagram: hmac("sha256", "hex", "x-hub-signature-256", body, prefixed("sha256=")),
  intercom: hmac("sha1", "hex", "x-hub-signature", body, prefixed("sha1=")),
  jira: hmac("sha256", "hex", "x-hub-signature", body, prefixed("sha256=")),
  launchdarkly: hmac("sha256", "hex", "x-ld-signature", body),
  lemon_squeezy: hmac("sha256", "hex", "x-signature", body),
  line: hmac("sha256", "base64", "x-line-signature", body),
  linear: hmac("sha256", "hex", "linear-signature", body),
  async livekit(given) {
    const token = withHeaders(given).header("authorization");
    const { payload } = await jwtVerify(token, Buffer.from(given.secret), {
      algorithms: ["HS256"],
    });
    return payload["sha256"] === Buffer.from(sha256(given.body), "hex").toString("base64");
  },
  mailchimp: ({ url, secret }) => new URL(url).searchParams.get("secret") === secret,
  mailgun: ({ body: text, secret }) => {
    const { signature } = JSON.parse(text);
    const signed = signature.timestamp + signature.token;
    return signature.signature === mac("sha256", Buffer.from(secret), signed, "hex");
  },
  mandrill: hmac(
    "sha1",
    "base64",
    "x-mandrill-signature",
    (request) => request.url + sortedForm(request),
  ),
  mcp_events: standardWebhook("webhook"),
  mollie: hmac("sha256", "hex", "x-mollie-signature", body, prefixed("sha256=")),
  monday: (given) => tokenInHeader(given, "HS256", Buffer.from(given.secret)),
  mux: stripeLike("mux-signature", "hex"),
  async netlify(given) {
    const token = withHeaders(given).header("x-webhook-signature");
    const options = { algorithms: ["HS256"], issuer: "netlify" };
    const { payload } = await jwtVerify(token, Buffer.from(given.secret), options);
    return payload["sha256"] === sha256(given.body);
  },
  notion: hmac("sha256", "hex", "x-notion-signature", body, prefixed("sha256=")),
  okta: secretInHeader("authorization"),
  onfido: hmac("sha256", "hex", "x-sha2-signature", body),
  openai: standardWebhook("webhook"),
  paddle: hmac(
    "sha256",
    "hex",
    "paddle-signature",
    (request) => `${partOf(request.header("paddle-signature"), "ts")}:${request.body}`,
    {
      form: (signature, { header }) =>
        `ts=${partOf(header("paddle-signature"), "ts")};h1=${signature}`,
    },
  ),
  pagerduty: hmac("sha256", "hex", "x-pagerduty-signature", body, prefixed("v1=")),
  paypal: (given) => {
    const { header } = withHeaders(given);
    const [id, time] = [header("paypal-transmission-id"), header("paypal-transmission-time")];
    const text = [id, time, given.secret, crc32(given.body)].join("|");
    return publicKeyVerifies(given, text, header("paypal-transmission-sig"));
  },
  paystack: hmac("sha512", "hex", "x-paystack-signature", body),
  async plaid(given) {
    const key = await importSPKI(given.publicKey ?? "", "ES256");
    const token = withHeaders(given).header("plaid-verification");
    const { payload } = await jwtVerify(token, key, { algorithms: ["ES256"] });
    return payload["request_body_sha256"] === sha256(given.body);
  },
  posthog: secretInHeader("authorization", "Bearer "),
  postmark: basicAuth,
  quickbooks: hmac("sha256", "base64", "intuit-signature", body),
  polar: textWebhook,
  razorpay: hmac("sha256", "hex", "x-razorpay-signature", body),
  replicate: standardWebhook("webhook"),
  resend: standardWebhook("svix"),
  sanity: stripeLike("sanity-webhook-signature", "base64url"),
  segment: (given) =>
    hmac(
      "sha1",
      "hex",
      given.headers.has("x-segment-signature") ? "x-segment-signature" : "x-signature",
      body,
    )(given),
  sendgrid: (given) => {
    const { header } = withHeaders(given);
    const text = header("x-twilio-email-event-webhook-timestamp") + given.body;
    return publicKeyVerifies(given, text, header("x-twilio-email-event-webhook-signature"));
  },
  sentry: hmac("sha256", "hex", "sentry-hook-signature", body),
  shopify: (given) =>
    hmac(
      "sha256",
      "base64",
      given.headers.has("shopify-topic") ? "shopify-hmac-sha256" : "x-shopify-hmac-sha256",
      body,
    )(given),
  slack: hmac(
    "sha256",
    "hex",
    "x-slack-signature",
    (request) => `v0:${request.header("x-slack-request-timestamp")}:${request.body}`,
    prefixed("v0="),
  ),
  snyk: hmac("sha256", "hex", "x-hub-signature", body, prefixed("sha256=")),
  sonarqube: hmac("sha256", "hex", "x-sonar-webhook-hmac-sha256", body),
  square: hmac(
    "sha256",
    "base64",
    "x-square-hmacsha256-signature",
    (request) => request.url + request.body,
  ),
  standard_webhooks: standardWebhook("webhook"),
  stytch: standardWebhook("svix"),
  svix: standardWebhook("svix"),
  telegram: secretInHeader("x-telegram-bot-api-secret-token"),
  terraform_cloud: hmac("sha512", "hex", "x-tfe-notification-signature", body),
  trello: hmac("sha1", "base64", "x-trello-webhook", (request) => request.body + request.url),
  twilio: hmac(
    "sha1",
    "base64",
    "x-twilio-signature",
    (request) => request.url + sortedForm(request),
  ),
  twitch: hmac(
    "sha256",
    "hex",
    "twitch-eventsub-message-signature",
    (request) =>
      request.header("twitch-eventsub-message-id") +
      request.header("twitch-eventsub-message-timestamp") +
      request.body,
    prefixed("sha256="),
  ),
  typeform: hmac("sha256", "base64", "typeform-signature", body, prefixed("sha256=")),
  webflow: hmac(
    "sha256",
    "hex",
    "x-webflow-signature",
    (request) => `${request.header("x-webflow-timestamp")}:${request.body}`,
  ),
  whatsapp: hmac("sha256", "hex", "x-hub-signature-256", body, prefixed("sha256=")),
  woocommerce: hmac("sha256", "base64", "x-wc-webhook-signature", body),
  workos: stripeLike("workos-signature", "hex"),
  x: hmac("sha256", "base64", "x-twitter-webhooks-signature", body, prefixed("sha256=")),
  xero: hmac("sha256", "base64", "x-xero-signature", body),
  zendesk: hmac(
    "sha256",
    "base64",
    "x-zendesk-webhook-signature",
    (request) => request.header("x-zendesk-webhook-signature-timestamp") + request.body,
  ),
  zendesk_triggers: hmac(
    "sha256",
    "base64",
    "x-zendesk-webhook-signature",
    (request) => request.header("x-zendesk-webhook-signature-timestamp") + request.body,
  ),
  zoom: hmac(
    "sha256",
    "hex",
    "x-zm-signature",
    (request) => `v0:${request.header("x-zm-request-timestamp")}:${request.body}`,
    prefixed("v0="),
  ),
};
