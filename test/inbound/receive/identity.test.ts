// Takes seconds: parses each file of the catalogue, and posts several deliveries of each.
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { asPayload, type JsonObject } from "../../../src/base/payload.ts";
import { pointerKeys } from "../../../src/base/place.ts";
import { write } from "../../../src/db/statement.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import { catalogue } from "../../../src/inbound/providers/catalogue.ts";
import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { readProvider } from "../../../src/inbound/providers/files/folder.ts";
import type { Provider } from "../../../src/inbound/providers/provider.ts";
import { setAt } from "../../../src/inbound/providers/signed-sample.ts";
import { sign } from "../../../src/inbound/signatures/sign.ts";
import { json } from "../../support/app.ts";
import { folderForTests } from "../../support/folder.ts";
import { eventRow } from "../../support/rows.ts";
import { appForAll } from "../../support/running-app.ts";
import { keyOf, postSigned, settingsFor } from "../../support/signed-request.ts";

/** What identifies a delivery of a provider, by its documentation. */
interface Identity {
  /** A signed id, the name of an unsigned header that holds it, or nothing. */
  readonly id: "signed" | "none" | `header ${string}`;
  /** Whether a retry can have the same body and another signed time. */
  readonly isTimed?: true;
  /** What is signed in place of the body's bytes. */
  readonly covers?: "members" | "fields";
  /** The unsigned header that names the event, with the listed names. Each may come with the body of the first. */
  readonly name?: readonly [header: string, ...names: string[]];
}

const unsigned = (header: string): Identity => ({ id: `header ${header}` });
const none: Identity = { id: "none" };
/** The same for each of some providers. */
const each = (names: string, identity: Identity) =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, identity]));

const identities: Readonly<Record<string, Identity>> = {
  ...each(
    `shared_inbox deploy_platform auth0 aws_sns azure_devops azure_event_grid chargebee
      checkout_com circleci datadog coinbase_commerce gocardless google_pubsub heroku intercom
      launchdarkly line livekit mailgun mollie monday notion okta pagerduty posthog quickbooks
      segment sonarqube square telegram trello typeform`,
    { id: "signed" },
  ),
  ...each(
    `payment_processor box clerk customer_io duffel gitlab_signed mcp_events mux openai paddle
      paypal polar replicate resend sendgrid slack standard_webhooks stytch svix twitch workos
      zendesk`,
    { id: "signed", isTimed: true },
  ),
  ...each(
    `adyen alertmanager asana cal_com cloudflare clickup docusign facebook grafana instagram
      lemon_squeezy mailchimp onfido paystack postmark terraform_cloud whatsapp x xero`,
    none,
  ),
  ...each(`buildkite calendly discord elevenlabs hubspot plaid webflow zoom`, {
    ...none,
    isTimed: true,
  }),
  task_tracker: unsigned("x-tasktracker-delivery-id"),
  code_host: unsigned("x-codehost-delivery"),
  gitlab: unsigned("idempotency-key"),
  jira: unsigned("x-atlassian-webhook-identifier"),
  razorpay: unsigned("x-razorpay-event-id"),
  twilio: unsigned("i-twilio-idempotency-token"),
  adyen_payments: { id: "none", covers: "members" },
  bitbucket: {
    ...unsigned("x-request-uuid"),
    name: [
      "x-event-key",
      "repo:push",
      "pullrequest:created",
      "pullrequest:fulfilled",
      "repo:commit_status_updated",
    ],
  },
  forgejo: { ...unsigned("x-forgejo-delivery"), name: ["x-forgejo-event", "issues"] },
  gitea: { ...unsigned("x-gitea-delivery"), name: ["x-gitea-event", "issues"] },
  linear: { ...unsigned("linear-delivery"), isTimed: true },
  mandrill: { id: "none", covers: "fields" },
  netlify: { ...none, name: ["x-netlify-event", "deploy_created", "deploy_failed"] },
  sanity: {
    ...unsigned("idempotency-key"),
    isTimed: true,
    name: ["sanity-operation", "create", "update", "delete"],
  },
  sentry: {
    ...unsigned("request-id"),
    // With the action of the body, which is signed: `issue.created`, `event_alert.created` and so on.
    name: ["sentry-hook-resource", "issue"],
  },
  shopify: {
    ...unsigned("x-shopify-webhook-id"),
    name: [
      "x-shopify-topic",
      "orders/create",
      "orders/paid",
      "orders/cancelled",
      "app/uninstalled",
    ],
  },
  snyk: { ...unsigned("x-snyk-transport-id"), name: ["x-snyk-event", "project_snapshot/v0"] },
  woocommerce: {
    ...unsigned("x-wc-webhook-delivery-id"),
    name: ["x-wc-webhook-topic", "order.created", "order.updated"],
  },
  zendesk_triggers: { ...unsigned("x-zendesk-webhook-invocation-id"), isTimed: true },
};

const folder = folderForTests();
const all = [...catalogue, ...Object.keys(catalogueFiles).map(ofFile)];
const keys = new Map(all.map((provider) => [provider.id, keyOf(provider)]));

/** The provider of a file. A key that the service publishes is replaced by one of the test: only the key's origin differs. */
function ofFile(id: string): Provider {
  const file = Object(Bun.YAML.parse(catalogueFiles[id] ?? ""));
  const { key: _, secretAt: __, ...signature } = file.signature;
  const path = join(folder, `${id}.json`);
  writeFileSync(path, JSON.stringify({ ...file, signature }));
  return readProvider(id, path);
}

const secrets = Array.from(keys, ([id, { secret }]) => [id, secret] as const);
const app = appForAll(settingsFor(folder, secrets));

interface Content {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** The first sample, with its ids and times fixed. */
function contentOf({ id, samples }: Provider): Content {
  const [sample] = Object.values(samples);
  if (sample === undefined) throw new Error(`${id} has no sample`);
  const { headers, body } = sample({ id: crypto.randomUUID(), now: new Date(app.clock.now()) });
  // Not all samples have something new in the body. Those that are arrays do.
  const added = Array.isArray(body) ? body : { ...body, added: crypto.randomUUID() };
  return { headers: Object.fromEntries(new Headers({ ...headers })), body: Object(added) };
}

/** Signs a content at a time, in seconds from now, and posts it. */
async function post(provider: Provider, content: Content, seconds = 0) {
  const key = keys.get(provider.id);
  if (key === undefined) throw new Error(`No key of ${provider.id}`);
  return json(await postSigned(app, provider, key, content, seconds));
}

const withHeaders = (content: Content, headers: Record<string, string>): Content => ({
  ...content,
  headers: { ...content.headers, ...headers },
});

/** Two events with the same id of an object, or with equal items. Neither is a retry of the other. */
const pairs: readonly (readonly [provider: string, one: object, other: object])[] = [
  [
    "clickup",
    { event: "taskUpdated", task_id: "1", history_items: [{ id: "7" }] },
    { event: "taskPriorityUpdated", task_id: "1", history_items: [{ id: "7" }] },
  ],
  [
    "lemon_squeezy",
    { meta: { webhook_id: "7", event_name: "subscription_updated" }, data: { id: "1" } },
    { meta: { webhook_id: "7", event_name: "subscription_payment_failed" }, data: { id: "1" } },
  ],
  ["whatsapp", flagged(1_751_247_548), flagged(1_761_247_548)],
  ["facebook", change("page", { id: "1" }), change("page", { id: "2" })],
  ["facebook", change("page", { time: 1_751_247_548 }), change("page", { time: 1_761_247_548 })],
  ["facebook", change("page", {}), change("user", {})],
  ["instagram", change("instagram", { id: "1" }), change("instagram", { id: "2" })],
  ["instagram", change("instagram", { time: 1 }), change("instagram", { time: null })],
  [
    "whatsapp",
    { entry: [{ id: "1", changes: [{ field: "messages", value: { statuses: [{ id: "m" }] } }] }] },
    { entry: [{ id: "2", changes: [{ field: "messages", value: { statuses: [{ id: "m" }] } }] }] },
  ],
  ["x", { for_user_id: "1", follow_events: [{}] }, { for_user_id: "2", follow_events: [{}] }],
  [
    "terraform_cloud",
    { run_id: "run-1", notifications: [{ trigger: "run:errored" }] },
    { run_id: "run-2", notifications: [{ trigger: "run:errored" }] },
  ],
  [
    "alertmanager",
    { receiver: "day", alerts: [{ status: "firing", fingerprint: "1" }] },
    { receiver: "night", alerts: [{ status: "firing", fingerprint: "1" }] },
  ],
];

/** A change without an id, of a page or an account, with what is around it. */
function change(object: string, around: object) {
  return { object, entry: [{ ...around, changes: [{ field: "feed", value: { verb: "add" } }] }] };
}

/** One event that the service sends again, with another of what it counts, adds or sums up around it. */
const again: readonly (readonly [provider: string, one: object, other: object])[] = [
  [
    "alertmanager",
    { ...alert("firing"), truncatedAlerts: 0, externalURL: "https://a.example" },
    { ...alert("resolved"), truncatedAlerts: 7, externalURL: "https://b.example" },
  ],
  [
    "grafana",
    { ...alert("firing"), title: "[FIRING:1]", state: "alerting", message: "One" },
    { ...alert("resolved"), title: "[RESOLVED]", state: "ok", message: "Two" },
  ],
  ["xero", xero(1, "s1"), xero(7, "s2")],
  ["facebook", change("page", { id: "9", time: 9 }), change("page", { time: 9, id: "9" })],
  [
    "okta",
    { eventId: "a", eventTime: "2026-11-28T10:00:00Z", data: { events: [{ uuid: "u-again" }] } },
    { eventId: "b", eventTime: "2026-11-28T10:07:00Z", data: { events: [{ uuid: "u-again" }] } },
  ],
];

function alert(ofGroup: string) {
  const alerts = [{ status: "firing", fingerprint: "again", startsAt: "2026-11-28T10:00:00Z" }];
  return { receiver: "operators", status: ofGroup, alerts };
}

function xero(sequence: number, entropy: string) {
  const events = [{ resourceId: "again", eventCategory: "INVOICE", eventType: "UPDATE" }];
  return { events, firstEventSequence: sequence, lastEventSequence: sequence, entropy };
}

test.each(again)("%s stores an event that comes again once", async (id, one, other) => {
  const [first, retry] = [Object(one), Object(other)].map((body) => ({ headers: {}, body }));
  if (first === undefined || retry === undefined) throw new Error("Two contents");
  const stored = await post(byId(id), first);
  expect(stored["status"]).not.toBe("duplicate");
  expect(await post(byId(id), retry)).toMatchObject({ status: "duplicate", id: stored["id"] });
});

function flagged(time: number) {
  const value = { display_phone_number: "16505551111", event: "FLAGGED" };
  return { entry: [{ id: "1", time, changes: [{ field: "phone_number_quality_update", value }] }] };
}

test.each(pairs)("%s keeps a second event that resembles the first", async (id, one, other) => {
  const provider = byId(id);
  const contents = [one, other].map((body): Content => ({ headers: {}, body: Object(body) }));
  for (const content of contents)
    expect(await post(provider, content)).not.toMatchObject({ status: "duplicate" });
  for (const content of contents)
    expect(await post(provider, content)).toMatchObject({ status: "duplicate" });
});

const sha256 = (bytes: string) => Bun.SHA256.hash(bytes, "hex");

test("every provider has its row", () => {
  expect(all.map(({ id }) => id).toSorted()).toEqual(Object.keys(identities).toSorted());
});

describe.each(all.map((provider) => [provider.id, provider] as const))("%s", (id, provider) => {
  const { id: kind, isTimed = false, name, covers } = identities[id] ?? none;
  const idHeader = kind.startsWith("header ") ? kind.slice("header ".length) : null;
  const itemsOf = (body: JsonObject) => {
    const items =
      provider.itemsIn?.({ value: body, text: JSON.stringify(body), context: "" }) ?? [];
    return items.length === 0 ? [body] : items.map(({ value }) => asPayload(value) ?? {});
  };
  const newId = (): Record<string, string> =>
    idHeader === null ? {} : { [idHeader]: crypto.randomUUID() };

  test("stores a delivery once", async () => {
    const content = contentOf(provider);
    const first = await post(provider, content);
    expect(first).toMatchObject({ status: "accepted" });
    const again = await post(provider, content);
    expect(again).toEqual({ ...first, status: "duplicate" });
    const ofHash = String(first["idempotencyKey"]).startsWith(`${id}:sha256:`);
    expect(ofHash).toBe(kind === "none");
  });

  if (isTimed)
    test("recognises a retry that is signed again, if it has an id", async () => {
      const content = contentOf(provider);
      const first = await post(provider, content);
      const retry = await post(provider, content, 7);
      expect(retry).toMatchObject(
        kind === "none" && provider.retryChangesTime !== true
          ? { status: "accepted" }
          : { status: "duplicate", id: first["id"] },
      );
      const again = await post(provider, content, 7);
      expect(again).toMatchObject({ status: "duplicate", id: retry["id"] });
    });

  test("recognises the service's own retry, once for each event", async () => {
    const content = contentOf(provider);
    const first = await post(provider, content);
    const body = structuredClone(content.body);
    for (const item of itemsOf(body)) {
      for (const place of provider.retryChanges ?? []) setAt(item, pointerKeys(place), "retried");
    }
    const isSignedAgain = kind !== "none" || provider.retryChangesTime === true;
    const retry = await post(provider, { ...content, body }, isTimed && isSignedAgain ? 7 : 0);
    expect(retry).toEqual({ ...first, status: "duplicate" });
    const detail = await json(await app.as("operator", `/v1/events/${String(first["id"])}`));
    expect(detail).toMatchObject({ receipt: { duplicates: 1 } });
  });

  if (idHeader !== null)
    test("takes equal signed bytes for the same under any id", async () => {
      const content = contentOf(provider);
      const first = await post(provider, content);
      const captured = await post(provider, withHeaders(content, newId()));
      expect(captured).toEqual({ ...first, status: "duplicate" });
    });

  if (idHeader !== null && isTimed && provider.retryChangesTime !== true)
    test("keeps an equal body of another id and time", async () => {
      const content = contentOf(provider);
      const first = await post(provider, content);
      const second = await post(provider, withHeaders(content, newId()), 7);
      expect(second).toMatchObject({ status: "accepted" });
      expect(second["idempotencyKey"]).not.toBe(first["idempotencyKey"]);
    });

  if (idHeader !== null)
    test("keeps another body under a taken id", async () => {
      const taken = newId();
      const first = await post(provider, withHeaders(contentOf(provider), taken));
      const second = await post(provider, withHeaders(contentOf(provider), taken));
      expect(second).toMatchObject({ status: "accepted" });
      expect(second["idempotencyKey"]).toStartWith(`${id}:sha256:`);
      expect(second["id"]).not.toBe(first["id"]);
    });

  if (name !== undefined)
    test("keeps an equal body once for each listed name", async () => {
      const [header, ...names] = name ?? [""];
      const content = contentOf(provider);
      const named = (value: string) =>
        post(provider, withHeaders(content, { ...newId(), [header]: value }));
      const stored = new Map<string, unknown>();
      for (const value of names) {
        const answer = await named(value);
        expect([value, answer["status"]]).toEqual([value, "accepted"]);
        stored.set(value, answer["id"]);
      }
      expect(new Set(stored.values()).size).toBe(names.length);
      for (const value of names) {
        expect(await named(value)).toMatchObject({ status: "duplicate", id: stored.get(value) });
      }
      // Anyone who captured the body can write any other name: one more event at most.
      const ignored = await named("no/name");
      expect(ignored).toMatchObject({ status: "ignored" });
      for (const value of ["no/other", ""]) {
        expect(await named(value)).toMatchObject({ status: "duplicate", id: ignored["id"] });
      }
    });

  if (covers === "members")
    test("stores a delivery once, however what is not signed changes", async () => {
      const content = contentOf(provider);
      const first = await post(provider, content);
      const changed = { ...content, body: Object({ ...content.body, added: "other" }) };
      expect(await post(provider, changed)).toEqual({ ...first, status: "duplicate" });
    });

  if (kind === "none" && covers === undefined)
    test("has the hash of the body or of the item as its key", async () => {
      const content = contentOf(provider);
      const { idempotencyKey } = await post(provider, content);
      const [item] = itemsOf(content.body);
      const { retryChanges = [] } = provider;
      const isAround = provider.itemsIn !== undefined && !Array.isArray(content.body);
      const isWhole = retryChanges.length === 0 && !isAround;
      const isForm = provider.payload === "form";
      const sent = isForm ? new URLSearchParams(Object(item)).toString() : JSON.stringify(item);
      const hash = isWhole ? sha256(sent) : "[0-9a-f]{64}";
      expect(idempotencyKey).toMatch(new RegExp(`^${id}:sha256:${hash}$`));
    });
});

const byId = (id: string) => {
  const found = all.find((provider) => provider.id === id);
  if (found === undefined) throw new Error(`No provider ${id}`);
  return found;
};

test("an event of a version that did not compare names is still recognised, and hides no other", async () => {
  const shopify = byId("shopify");
  const content = contentOf(shopify);
  const paid = (id: string) =>
    withHeaders(content, { "x-shopify-topic": "orders/paid", "x-shopify-webhook-id": id });
  const body = Buffer.from(JSON.stringify(content.body));
  const bodyHash = new Bun.CryptoHasher("sha256").update(body).digest().subarray(0, 16);
  const old = { provider: "shopify", idempotencyKey: "shopify:old", type: "order.paid" };
  await app.services.storage.atomically(
    write(insertEvent, eventRow(1, { ...old, bodyHash, body })),
  );
  expect(await post(shopify, paid("old"))).toMatchObject({ status: "duplicate" });
  const created = { "x-shopify-topic": "orders/create", "x-shopify-webhook-id": "new" };
  expect(await post(shopify, withHeaders(content, created))).toMatchObject({ status: "accepted" });
});

test("a retry is recognised after the provider began to sign its ids", async () => {
  const provider = byId("workos");
  const content = contentOf(provider);
  const { event: type, idempotencyKey } = await post(provider, content);
  const id = crypto.randomUUID();
  const again = { ...content, body: { ...content.body, id } };
  const body = Buffer.from(JSON.stringify(again.body));
  const before = { provider: "workos", idempotencyKey: `workos:${id}`, type: String(type) };
  expect(idempotencyKey).toBe(`workos:${String(content.body["id"])}`);
  const bodyHash = crypto.getRandomValues(Buffer.alloc(16));
  const row = eventRow(2, { ...before, bodyHash, body });
  await app.services.storage.atomically(write(insertEvent, row));
  expect(await post(provider, again)).toMatchObject({ status: "duplicate", id: row.id });
});

test("a body that names no event is one event for each listed name in the header", async () => {
  const content = { headers: {}, body: { note: crypto.randomUUID() } };
  const named = (value: string) =>
    post(byId("code_host"), withHeaders(content, { "x-codehost-event": value }));
  const run = await named("workflow_run.completed");
  expect(run).toMatchObject({ status: "accepted", event: "workflow_run.completed" });
  const published = await named("package.published");
  expect(published).toMatchObject({ status: "accepted", event: "package.published" });
  expect(await named("package.published")).toEqual({ ...published, status: "duplicate" });
  expect(await named("push")).toMatchObject({ status: "ignored" });
  expect(await named("issues")).toMatchObject({ status: "duplicate" });
});

test("retries of an unreadable body are one event, whenever they were signed", async () => {
  const provider = byId("payment_processor");
  const [{ secret } = { secret: "" }] = [keys.get(provider.id)];
  for (const seconds of [0, 7]) {
    const body = Buffer.from("not JSON");
    const signature = sign(provider.signature, secret, body, app.clock.now() + seconds * 1_000);
    const headers = { "x-payment-signature": signature };
    const sent = { method: "POST", headers, body };
    expect((await app.fetch("/webhooks/payment_processor", sent)).status).toBe(400);
  }
  const page = await json(await app.as("operator", "/v1/events?status=unreadable"));
  expect(page).toMatchObject({ data: [{ provider: "payment_processor" }] });
});
