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

/**
 * The header's value is the HMAC of `text` after `prefix`. Both may name parts of the request: `{body}`, `{url}`, `{form}`,
 * the form's fields in order, and of the headers `{x-time}`, or `{x-signature:t}` for the number after `t=`.
 */
function hmac(
  algorithm: string,
  encoding: Encoding,
  header: string,
  text = "{body}",
  prefix = "",
  key = (secret: string): Uint8Array => Buffer.from(secret),
): Opinion {
  return (given) => {
    const filled = (template: string) =>
      template.replaceAll(/\{([\w-]+)(?::(\w+))?\}/g, (_, name: string, part?: string) => {
        if (name === "body" || name === "url") return given[name];
        if (name === "form") return sortedForm(given.body);
        const value = given.headers.get(name) ?? "";
        return part === undefined ? value : (new RegExp(`${part}=(\\d+)`).exec(value)?.[1] ?? "");
      });
    const signature = mac(algorithm, key(given.secret), filled(text), encoding);
    // WorkOS sends a space after the comma.
    return given.headers.get(header)?.replace(", ", ",") === filled(prefix) + signature;
  };
}

const sha256 = (text: string) => openssl(["dgst", "-sha256", "-binary"], text).toString("hex");

const stripeLike = (header: string, encoding: Encoding): Opinion =>
  hmac("sha256", encoding, header, `{${header}:t}.{body}`, `t={${header}:t},v1=`);

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

/** `hidden`: the prefix of the headers that a sender can use instead. */
function standardWebhook(prefix: string, hidden = "none"): Opinion {
  return (given) => {
    const { header } = withHeaders(given);
    const names = ["id", "timestamp", "signature"];
    const headers = Object.fromEntries(
      names.map((name) => [
        `webhook-${name}`,
        header(`${prefix}-${name}`) || header(`${hidden}-${name}`),
      ]),
    );
    new Webhook(given.secret).verify(given.body, headers);
    return true;
  };
}

/** A Standard Webhook whose secret is the key itself. */
const textWebhook: Opinion = (given) =>
  standardWebhook("webhook")({ ...given, secret: Buffer.from(given.secret).toString("base64") });

const sortedForm = (form: string): string =>
  [...new URLSearchParams(form)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flat()
    .join("");

const snsText = (body: string): string => {
  const message: Record<string, string> = JSON.parse(body);
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

const zendeskHeader = "x-zendesk-webhook-signature";
const zendesk = hmac("sha256", "base64", zendeskHeader, `{${zendeskHeader}-timestamp}{body}`);

export const secondOpinions: Readonly<Record<string, Opinion>> = {
  adyen: hmac("sha256", "base64", "hmacsignature", "{body}", "", (hex) => Buffer.from(hex, "hex")),
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
  asana: hmac("sha256", "hex", "x-hook-signature"),
  auth0: secretInHeader("authorization"),
  aws_sns: (given) =>
    publicKeyVerifies(given, snsText(given.body), JSON.parse(given.body).Signature),
  azure_devops: basicAuth,
  azure_event_grid: secretInHeader("x-event-grid-secret"),
  bitbucket: hmac("sha256", "hex", "x-hub-signature", "{body}", "sha256="),
  box: hmac("sha256", "base64", "box-signature-primary", "{body}{box-delivery-timestamp}"),
  buildkite: hmac(
    "sha256",
    "hex",
    "x-buildkite-signature",
    "{x-buildkite-signature:timestamp}.{body}",
    "timestamp={x-buildkite-signature:timestamp},signature=",
  ),
  cal_com: hmac("sha256", "hex", "x-cal-signature-256"),
  calendly: stripeLike("calendly-webhook-signature", "hex"),
  chargebee: basicAuth,
  checkout_com: hmac("sha256", "hex", "cko-signature"),
  circleci: hmac("sha256", "hex", "circleci-signature", "{body}", "v1="),
  clerk: standardWebhook("svix", "webhook"),
  clickup: hmac("sha256", "hex", "x-signature"),
  customer_io: hmac("sha256", "hex", "x-cio-signature", "v0:{x-cio-timestamp}:{body}"),
  cloudflare: secretInHeader("cf-webhook-auth"),
  datadog: secretInHeader("x-webhook-secret"),
  coinbase_commerce: hmac("sha256", "hex", "x-cc-webhook-signature"),
  discord: (given) => {
    const { header } = withHeaders(given);
    const text = header("x-signature-timestamp") + given.body;
    return ed25519Verifies(given, text, header("x-signature-ed25519"));
  },
  docusign: hmac("sha256", "base64", "x-docusign-signature-1"),
  duffel: stripeLike("x-duffel-signature", "hex"),
  facebook: hmac("sha256", "hex", "x-hub-signature-256", "{body}", "sha256="),
  elevenlabs: hmac(
    "sha256",
    "hex",
    "elevenlabs-signature",
    "{elevenlabs-signature:t}.{body}",
    "t={elevenlabs-signature:t},v0=",
  ),
  forgejo: hmac("sha256", "hex", "x-forgejo-signature"),
  gitea: hmac("sha256", "hex", "x-gitea-signature"),
  gitlab: secretInHeader("x-gitlab-token"),
  gitlab_signed: standardWebhook("webhook"),
  google_pubsub: (given) =>
    tokenInHeader(given, "RS256", createPublicKey(given.publicKey ?? ""), ["email", given.secret]),
  gocardless: hmac("sha256", "hex", "webhook-signature"),
  grafana: hmac("sha256", "hex", "x-grafana-alerting-signature"),
  heroku: hmac("sha256", "base64", "heroku-webhook-hmac-sha256"),
  hubspot: hmac(
    "sha256",
    "base64",
    "x-hubspot-signature-v3",
    "POST{url}{body}{x-hubspot-request-timestamp}",
  ),
  instagram: hmac("sha256", "hex", "x-hub-signature-256", "{body}", "sha256="),
  intercom: hmac("sha1", "hex", "x-hub-signature", "{body}", "sha1="),
  jira: hmac("sha256", "hex", "x-hub-signature", "{body}", "sha256="),
  launchdarkly: hmac("sha256", "hex", "x-ld-signature"),
  lemon_squeezy: hmac("sha256", "hex", "x-signature"),
  line: hmac("sha256", "base64", "x-line-signature"),
  linear: hmac("sha256", "hex", "linear-signature"),
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
  mandrill: hmac("sha1", "base64", "x-mandrill-signature", "{url}{form}"),
  mcp_events: standardWebhook("webhook"),
  mollie: hmac("sha256", "hex", "x-mollie-signature", "{body}", "sha256="),
  monday: (given) => tokenInHeader(given, "HS256", Buffer.from(given.secret)),
  mux: stripeLike("mux-signature", "hex"),
  async netlify(given) {
    const token = withHeaders(given).header("x-webhook-signature");
    const options = { algorithms: ["HS256"], issuer: "netlify" };
    const { payload } = await jwtVerify(token, Buffer.from(given.secret), options);
    return payload["sha256"] === sha256(given.body);
  },
  notion: hmac("sha256", "hex", "x-notion-signature", "{body}", "sha256="),
  okta: secretInHeader("authorization"),
  onfido: hmac("sha256", "hex", "x-sha2-signature"),
  openai: standardWebhook("webhook"),
  paddle: hmac(
    "sha256",
    "hex",
    "paddle-signature",
    "{paddle-signature:ts}:{body}",
    "ts={paddle-signature:ts};h1=",
  ),
  pagerduty: hmac("sha256", "hex", "x-pagerduty-signature", "{body}", "v1="),
  paypal: (given) => {
    const { header } = withHeaders(given);
    const [id, time] = [header("paypal-transmission-id"), header("paypal-transmission-time")];
    const text = [id, time, given.secret, crc32(given.body)].join("|");
    return publicKeyVerifies(given, text, header("paypal-transmission-sig"));
  },
  paystack: hmac("sha512", "hex", "x-paystack-signature"),
  async plaid(given) {
    const key = await importSPKI(given.publicKey ?? "", "ES256");
    const token = withHeaders(given).header("plaid-verification");
    const { payload } = await jwtVerify(token, key, { algorithms: ["ES256"] });
    return payload["request_body_sha256"] === sha256(given.body);
  },
  posthog: secretInHeader("authorization", "Bearer "),
  postmark: basicAuth,
  quickbooks: hmac("sha256", "base64", "intuit-signature"),
  polar: textWebhook,
  razorpay: hmac("sha256", "hex", "x-razorpay-signature"),
  replicate: standardWebhook("webhook"),
  resend: standardWebhook("svix", "webhook"),
  sanity: stripeLike("sanity-webhook-signature", "base64url"),
  segment: (given) => {
    const old = given.headers.has("x-segment-signature");
    return hmac("sha1", "hex", old ? "x-segment-signature" : "x-signature")(given);
  },
  sendgrid: (given) => {
    const { header } = withHeaders(given);
    const text = header("x-twilio-email-event-webhook-timestamp") + given.body;
    return publicKeyVerifies(given, text, header("x-twilio-email-event-webhook-signature"));
  },
  sentry: hmac("sha256", "hex", "sentry-hook-signature"),
  shopify: (given) => {
    const prefix = given.headers.has("shopify-topic") ? "" : "x-";
    return hmac("sha256", "base64", `${prefix}shopify-hmac-sha256`)(given);
  },
  slack: hmac("sha256", "hex", "x-slack-signature", "v0:{x-slack-request-timestamp}:{body}", "v0="),
  snyk: hmac("sha256", "hex", "x-hub-signature", "{body}", "sha256="),
  sonarqube: hmac("sha256", "hex", "x-sonar-webhook-hmac-sha256"),
  square: hmac("sha256", "base64", "x-square-hmacsha256-signature", "{url}{body}"),
  standard_webhooks: standardWebhook("webhook", "svix"),
  stytch: standardWebhook("svix", "webhook"),
  svix: standardWebhook("svix", "webhook"),
  telegram: secretInHeader("x-telegram-bot-api-secret-token"),
  terraform_cloud: hmac("sha512", "hex", "x-tfe-notification-signature"),
  trello: hmac("sha1", "base64", "x-trello-webhook", "{body}{url}"),
  twilio: (given) => {
    const url = new URL(given.url);
    const bare = given.url.replace(url.host, url.hostname);
    const withPort = given.url.replace(url.host, `${url.hostname}:${url.port || 443}`);
    const opinion = hmac("sha1", "base64", "x-twilio-signature", "{url}{form}");
    return [bare, withPort].some((each) => opinion({ ...given, url: each }) === true);
  },
  twitch: hmac(
    "sha256",
    "hex",
    "twitch-eventsub-message-signature",
    "{twitch-eventsub-message-id}{twitch-eventsub-message-timestamp}{body}",
    "sha256=",
  ),
  typeform: hmac("sha256", "base64", "typeform-signature", "{body}", "sha256="),
  webflow: hmac("sha256", "hex", "x-webflow-signature", "{x-webflow-timestamp}:{body}"),
  whatsapp: hmac("sha256", "hex", "x-hub-signature-256", "{body}", "sha256="),
  woocommerce: hmac("sha256", "base64", "x-wc-webhook-signature"),
  workos: stripeLike("workos-signature", "hex"),
  x: hmac("sha256", "base64", "x-twitter-webhooks-signature", "{body}", "sha256="),
  xero: hmac("sha256", "base64", "x-xero-signature"),
  zendesk,
  zendesk_triggers: zendesk,
  zoom: hmac("sha256", "hex", "x-zm-signature", "v0:{x-zm-request-timestamp}:{body}", "v0="),
};
