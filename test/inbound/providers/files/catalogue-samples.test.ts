// Takes seconds: parses each file of the catalogue, and signs each sample.
import { describe, expect, test } from "bun:test";

import type { JsonObject } from "../../../../src/base/payload.ts";
import type { Event } from "../../../../src/event/event.ts";
import { severities } from "../../../../src/event/new-notification.ts";
import { catalogueFiles } from "../../../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../../../src/inbound/providers/files/provider-file.ts";
import { interpret, notificationsOf } from "../../../../src/inbound/providers/interpret.ts";
import type { Fresh, Notice, Provider } from "../../../../src/inbound/providers/provider.ts";
import { signedSample } from "../../../../src/inbound/providers/signed-sample.ts";
import { eventIdentity } from "../../../../src/inbound/receive/event-identity.ts";
import {
  developmentSecret,
  newKeyPair,
} from "../../../../src/inbound/signatures/development-secret.ts";
import { kindOf } from "../../../../src/inbound/signatures/jwt.ts";
import type { KeyStore } from "../../../../src/inbound/signatures/key-store.ts";
import type { SigningKey } from "../../../../src/inbound/signatures/keys.ts";
import { hasSharedSecret } from "../../../../src/inbound/signatures/scheme.ts";
import { verifier } from "../../../../src/inbound/signatures/signature.ts";
import { recordedDeliveries } from "../oracles/recorded.ts";

const url = "https://hooks.example.com/webhooks/a";
let made = 0;
/** Another id and another millisecond each time. */
const fresh = (): Fresh => ({ id: crypto.randomUUID(), now: new Date(Date.now() - made++) });

/** What stands in for the service: what is configured, and what signs. */
interface Stand {
  readonly key: SigningKey;
  readonly keys: KeyStore;
}

function standFor({ signature: scheme, secretPrefix }: Provider, recordedSecret: string): Stand {
  const isShared = scheme.kind === "hmac" || scheme.kind === "shared-secret";
  if (
    isShared ||
    scheme.kind === "basic-auth" ||
    scheme.kind === "url" ||
    hasSharedSecret(scheme)
  ) {
    const key = { secret: developmentSecret(scheme, secretPrefix)?.secret ?? "" };
    return { key, keys: { find: () => null, confirm() {} } };
  }
  const pair = newKeyPair(scheme.kind === "jwt" ? kindOf(scheme) : scheme.kind);
  const pem = pair.publicKey.export({ format: "pem", type: "spki" }).toString();
  const secret = scheme.key === undefined ? pem : recordedSecret;
  return {
    key: { secret, privateKey: pair.privateKey },
    keys: { find: () => [{ key: pair.publicKey, alg: null }], confirm() {} },
  };
}

function eventOf(
  provider: Provider,
  bytes: Uint8Array,
  headers: Headers,
): Event & { readonly notice: Notice | null } {
  const [interpreted] = interpret(provider, { bytes }, (name) => headers.get(name)) ?? [];
  if (interpreted === undefined) throw new Error(`The body is not what ${provider.id} reads`);
  const { deliveryId: _, notice = null, ...described } = interpreted;
  return {
    ...described,
    notice,
    id: "evt_1",
    provider: provider.id,
    idempotencyKey: eventIdentity(provider, interpreted, { signedBytes: bytes, signedContext: "" })
      .keys[0],
    occurredAt: interpreted.occurredAt ?? new Date(0),
    createdAt: new Date(0),
    recovered: false,
  };
}

/** The samples that hold no time, of files that read one from others. */
const untimed = [
  "bitbucket repo:push",
  "buildkite agent.lost",
  "clickup taskDeleted",
  "forgejo action_run_failure.failure",
  "gitea status.failure",
  "gitea workflow_run.failure",
  "gitlab access_token",
  "gitlab merge_request",
  "gitlab push",
  "gitlab_signed access_token",
  "gitlab_signed merge_request",
  "gitlab_signed push",
  "instagram comments",
  "postmark Inbound",
  "shopify customers/redact",
  "shopify disputes/create",
  "slack slash_command",
  "sonarqube FAILED",
];

describe.each(Object.entries(catalogueFiles))("%s", (name, text) => {
  const file = readProviderFile(`${name}.yaml`, text);
  const provider = fileProvider(name, `${name}.yaml`, file);
  const recorded = recordedDeliveries(name);
  const stand = standFor(provider, recorded.secret);
  const samples = Object.entries(provider.samples);

  test.each(samples)("describes %s to operators", (sampleName, sample) => {
    const { headers, bytes } = signedSample(provider, sample, stand.key, fresh(), { url });
    const event = eventOf(provider, bytes, new Headers(headers));
    expect(event.status).toBe("accepted");
    expect(event.type).toBe(file.events[sampleName]?.type ?? sampleName);
    const readsTime = (file.events[sampleName]?.occurredAt ?? file.occurredAt) !== undefined;
    const isTimed = readsTime && !untimed.includes(`${name} ${sampleName}`);
    expect(event.occurredAt.getTime() > 0).toBe(isTimed);
    expect(event.title).toMatch(/^[^{}[\]]{5,200}$/);
    expect(event.title).not.toStartWith(event.type);
    const [message, ...others] = notificationsOf(provider, event, event.notice);
    expect(others).toEqual([]);
    if (message === undefined) throw new Error("There is no message");
    expect(severities).toContain(message.severity);
    expect(message.text).toMatch(/^[^{}[\]]{0,500}$/);
  });

  test.each(samples)("signs %s so that it verifies", async (_, sample) => {
    const { headers, bytes, urlEnd } = signedSample(provider, sample, stand.key, fresh(), { url });
    const secrets = { current: stand.key.secret, previous: null };
    const verify = verifier(provider.signature, secrets, stand.keys);
    const at = { method: "POST", url: url + urlEnd, bytes, receivedAtMs: Date.now() };
    expect(await verify({ ...at, headers: new Headers(headers) })).toHaveProperty("verified");
  });

  test("has another idempotency key for every delivery", () => {
    const keys = samples.flatMap(([, sample]) =>
      [fresh(), fresh()].map((each) => {
        const signed = signedSample(provider, sample, stand.key, each, { url });
        return eventOf(provider, signed.bytes, new Headers(signed.headers)).idempotencyKey;
      }),
    );
    expect(new Set(keys).size).toBe(samples.length * 2);
  });

  const named = recorded.deliveries.filter(({ event }) => event !== undefined);
  test.each(named)("reads $title", ({ event: eventName = "", body, headers }) => {
    const event = eventOf(provider, Buffer.from(body), new Headers(headers));
    const isListed = Object.hasOwn(file.events, eventName) || Object.hasOwn(file.events, "*");
    expect(event.status).toBe(isListed ? "accepted" : "ignored");
    expect(event.type).toBe(file.events[eventName]?.type ?? eventName);
    if (["discord", "gitlab", "sonarqube"].includes(name) && /[a-z](?:_at|At|stamp)"/.test(body))
      expect(event.occurredAt.getTime()).toBeGreaterThan(0);
    expect(event.title).toMatch(/^.{4,500}$/);
  });

  const tests = recorded.deliveries.filter(({ handshake }) => handshake !== undefined);
  test.each(tests)("answers $title", ({ handshake, body, headers, url: path }) => {
    const source = { headers: new Headers(headers), url: path, payload: () => JSON.parse(body) };
    const [answer] = (provider.handshakes ?? [])
      .filter(({ matches }) => matches(source))
      .map((each) => each.answer(source, recorded.secret));
    expect(answer?.status).toBe(handshake?.status);
    expect(answer?.body).toBe(handshake?.body);
  });
});

test("separates nothing from nothing", () => {
  const adyen = catalogueFiles["adyen"] ?? "";
  const provider = fileProvider("adyen", "adyen.yaml", readProviderFile("adyen.yaml", adyen));
  const interpreted = (payload: JsonObject) => provider.interpret({ payload, header: () => null });
  const { notice } = interpreted({ data: { description: "Late" } });
  expect(notice).toMatchObject({ text: "Late" });
  expect(interpreted({ data: {} }).notice).toMatchObject({ text: null });
  const dots = interpreted({ data: { description: "· a · b ·" } });
  expect(dots.notice).toMatchObject({ text: "a · b" });
});
