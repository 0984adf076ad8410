import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";

import { verify as octokitVerify } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";

import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../../src/inbound/providers/files/provider-file.ts";
import { forwarded } from "../../../src/inbound/providers/forwarded.ts";
import {
  developmentSecret,
  signingKeyWith,
} from "../../../src/inbound/signatures/development-secret.ts";
import { json, providerOf, signed, startApp } from "../../support/app.ts";

const body = '{ "type": "created", "webhookTimestamp": 1763716364000 }';
const compact = '{"type":"created","webhookTimestamp":1763716364000}';

function providerNamed(id: string) {
  const text = catalogueFiles[id];
  return text === undefined
    ? providerOf(id)
    : fileProvider(id, `${id}.yaml`, readProviderFile(id, text));
}

/** What `skyhook listen` sends for a delivery with these stored headers. */
function sentFor(id: string, stored: Readonly<Record<string, string>>) {
  const provider = providerNamed(id);
  const secret = developmentSecret(provider.signature, provider.secretPrefix);
  if (secret === null) throw new Error(`${id} cannot be signed for`);
  const request = forwarded(
    { headers: stored, bytes: Buffer.from(body) },
    provider,
    signingKeyWith(secret),
    { url: "http://localhost:3000/", atMs: Date.now() },
  );
  return { ...request, secret: secret.secret.trim() };
}

const hmac = (algorithm: string, secret: string, text: string, encoding: "hex" | "base64") =>
  createHmac(algorithm, secret).update(text).digest(encoding);

/** Verification by the services' own libraries, or by the steps in their documentation. */
const checks: Readonly<
  Record<string, (value: string, secret: string) => boolean | Promise<boolean>>
> = {
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  code_host: (value, secret) => octokitVerify(secret, body, value),
  // https://docs.stripe.com/webhooks#verify-manually
  payment_processor(value, secret) {
    const [, time = "", mac] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(value) ?? [];
    return mac === hmac("sha256", secret, `${time}.${body}`, "hex");
  },
  // https://developer.todoist.com/sync/v9/#request-format
  task_tracker: (value, secret) => value === hmac("sha256", secret, body, "base64"),
  // https://vercel.com/docs/webhooks/webhooks-api#securing-webhooks
  deploy_platform: (value, secret) => value === hmac("sha1", secret, body, "hex"),
  // https://dev.frontapp.com/docs/webhooks-1#validating-data-integrity
  shared_inbox: (value, secret) => value === hmac("sha1", secret, compact, "base64"),
  // https://linear.app/developers/webhooks#securing-webhooks
  linear: (value, secret) => value === hmac("sha256", secret, body, "hex"),
};

describe("a delivery is sent on under the header name", () => {
  test.each([
    ["code_host", "x-hub-signature-256", "x-codehost-signature-256"],
    ["payment_processor", "stripe-signature", "x-payment-signature"],
    ["task_tracker", "x-todoist-hmac-sha256", "x-tasktracker-hmac-sha256"],
    ["deploy_platform", "x-vercel-signature", "x-deploy-signature"],
    ["shared_inbox", "x-front-signature", "x-inbox-signature"],
    ["linear", "linear-signature", "linear-signature"],
  ])("of %s: %s, or %s if it came under that", async (id, own, neutral) => {
    for (const [stored, name] of [
      [{}, own],
      [{ "skyhook-signature-header": "1" }, neutral],
    ] as const) {
      const { headers, unsigned, secret } = sentFor(id, stored);
      expect(unsigned).toBeNull();
      expect(Object.keys(headers)).toEqual([name]);
      expect(await checks[id]?.(headers[name] ?? "", secret)).toBe(true);
    }
  });

  test("of Standard Webhooks, which its library verifies", () => {
    const { headers, secret } = sentFor("standard_webhooks", { "webhook-id": "msg_1" });
    expect(new Webhook(secret).verify(body, { ...headers })).toEqual(JSON.parse(body));
  });
});

test.each([
  ["x-hub-signature-256", {}],
  ["x-codehost-signature-256", { "skyhook-signature-header": "1" }],
])("a server knows that a delivery came under %s, and keeps no signature", async (name, kept) => {
  await using app = await startApp();
  const init = signed("code_host", body, app.clock);
  const { "x-codehost-signature-256": value = "", ...others } = Object(init.headers);
  const headers = { ...others, [name]: value };
  const { id } = await json(await app.fetch("/webhooks/code_host", { ...init, headers }));
  const { receipt } = await json(await app.as("operator", `/v1/events/${String(id)}`));
  const stored = Object(receipt).headers;
  expect(stored).toEqual({ "content-type": "application/json", ...kept });
  const request = forwarded(
    { headers: stored, bytes: Buffer.from(body) },
    providerOf("code_host"),
    { secret: "a secret of the listener" },
    { url: "http://localhost:3000/", atMs: Date.now(), withAll: true },
  );
  expect(await octokitVerify("a secret of the listener", body, request.headers[name] ?? "")).toBe(
    true,
  );
});
