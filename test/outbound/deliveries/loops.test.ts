import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { readProvider } from "../../../src/inbound/providers/files/folder.ts";
import { json, until } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { testGateway } from "../../support/gateway.ts";
import { listed } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";
import { serveApp, type ServedApp } from "../../support/served-app.ts";
import { postSigned } from "../../support/signed-request.ts";

const taken = resources();
const secret = "a secret that all of them share";

/** More events than any of these tests makes: without an end, there would be more and more. */
const tooMany = 30;

interface Skyhook extends ServedApp {
  /** Of its provider files and of its secrets. */
  readonly folder: string;
}

/** A server with providers of these files, by name. */
async function skyhook(files: Readonly<Record<string, string>>): Promise<Skyhook> {
  const folder = taken.newFolder();
  for (const [id, text] of Object.entries(files)) {
    writeFileSync(join(folder, `${id}.yaml`), text);
    const first = text.includes("whsec_") ? `whsec_${btoa(secret)}` : secret;
    writeFileSync(join(folder, `${id}_webhook_secret`), first, { mode: 0o600 });
  }
  const env = { PROVIDERS_DIR: folder, DESTINATIONS_ALLOW_PRIVATE: "true" };
  const served = await serveApp(env, undefined, { secretsDir: folder });
  taken.ends.push(() => served.stop());
  return { ...served, folder };
}

async function createDestination({ app }: Skyhook, input: object) {
  const response = await app.as("admin", "/v1/destinations", post(input));
  expect(response.status).toBe(201);
  return json(response);
}

/** Has one send to a provider of another, which verifies with the secret of the new destination. */
async function notify(from: Skyhook, to: Skyhook, input: object, provider = "peer"): Promise<void> {
  const name = crypto.randomUUID();
  const url = `${to.url}/webhooks/${provider}`;
  const made = await createDestination(from, { name, format: "json", url, ...input });
  if (provider !== "peer") return;
  const path = join(to.folder, "peer_webhook_secret");
  writeFileSync(path, String(made["secret"]), { mode: 0o600 });
  to.app.services.reload();
}

/** Waits until none of them has anything to send. Returns the statuses of the events of each, the oldest first. */
async function afterAll(...all: readonly Skyhook[]): Promise<readonly (readonly unknown[])[]> {
  let before = "";
  const statuses = async () =>
    Promise.all(
      all.map(async ({ app }) => {
        const events = await listed(app, "/v1/events?limit=100");
        expect(events.length).toBeLessThan(tooMany);
        return events.map(({ status }) => status).toReversed();
      }),
    );
  await until(async () => {
    const waiting = await Promise.all(
      all.map(async ({ app }) => {
        // For batches and retries, but less than a time-out.
        app.clock.advance(20);
        const notifications = await listed(app, "/v1/notifications?limit=100");
        const isOpen = ({ status }: Record<string, unknown>) =>
          /pending|retrying/.test(String(status));
        return notifications.filter(isOpen).length;
      }),
    );
    const now = JSON.stringify(await statuses());
    const isQuiet = now === before && waiting.every((count) => count === 0);
    before = now;
    return isQuiet;
  });
  return statuses();
}

const peer = catalogueFiles["standard_webhooks"] ?? "";
/** One event for each item of a batch. */
const peerOfItems = peer.replace("deliveryId: header.webhook-id", 'each: ""');
const batch = { batchMaxItems: 10, batchMaxWaitMs: 100 };

test.each([
  ["json", {}, {}, peer],
  ["cloudevents", { format: "cloudevents" }, { format: "cloudevents" }, peer],
  ["json and cloudevents", {}, { format: "cloudevents" }, peer],
  ["a template", { template: '{"type": "note"}' }, { template: '{"type": "answer"}' }, peer],
  ["batches", batch, batch, peer],
  ["batches read by item", batch, batch, peerOfItems],
  ["batches and json", batch, {}, peerOfItems],
] as const)(
  "two Skyhooks that notify each other come to an end, by %s",
  async (_, there, back, file) => {
    const [one, other] = [await skyhook({ peer: file }), await skyhook({ peer: file })];
    await notify(one, other, there);
    await notify(other, one, back);
    await one.app.deliverSample("task_tracker", "task.completed");
    expect(await afterAll(one, other)).toEqual([["accepted", "ignored"], ["accepted"]]);
    // In the other direction too.
    await other.app.deliverSample("task_tracker", "task.completed");
    expect(await afterAll(one, other)).toEqual([
      ["accepted", "ignored", "accepted"],
      ["accepted", "accepted", "ignored"],
    ]);
  },
);

test("three in a ring all receive an event, and stop where it began", async () => {
  const [a, b, c] = [await skyhook({ peer }), await skyhook({ peer }), await skyhook({ peer })];
  await notify(a, b, {});
  await notify(b, c, { format: "cloudevents" });
  await notify(c, a, {});
  await a.app.deliverSample("task_tracker", "task.completed");
  expect(await afterAll(a, b, c)).toEqual([["accepted", "ignored"], ["accepted"], ["accepted"]]);
});

test("a destination that is the Skyhook's own webhook URL receives one event once", async () => {
  const own = await skyhook({ peer });
  await notify(own, own, {});
  await own.app.deliverSample("task_tracker", "task.completed");
  expect(await afterAll(own)).toEqual([["accepted", "ignored"]]);
});

test("originals that are signed again at each hop come to an end", async () => {
  // Buildkite sends no id: what is signed, with its time, identifies a delivery.
  const files = { buildkite: catalogueFiles["buildkite"] ?? "" };
  const [one, other] = [await skyhook(files), await skyhook(files)];
  other.app.clock.advance(2_000);
  await notify(one, other, { format: "original" }, "buildkite");
  await notify(other, one, { format: "original" }, "buildkite");
  await deliver(one, "buildkite", { event: "ping" });
  expect(await afterAll(one, other)).toEqual([["accepted", "ignored"], ["accepted"]]);
});

test("an alert about Skyhook that each failed delivery raises again is one event", async () => {
  const server = await skyhook({ alertmanager: catalogueFiles["alertmanager"] ?? "" });
  const alert = () => {
    const annotations = { summary: crypto.randomUUID() };
    const labels = { alertname: "SkyhookDeadLetters" };
    const startsAt = "2026-11-21T08:00:00Z";
    return { alerts: [{ status: "firing", fingerprint: "1", startsAt, labels, annotations }] };
  };
  await using broken = testGateway(async () => {
    await deliver(server, "alertmanager", alert());
    return new Response("", { status: 500 });
  });
  const retryDelays = "1s 1s";
  await createDestination(server, { name: "broken", format: "json", url: broken.url, retryDelays });
  await deliver(server, "alertmanager", alert());
  await until(async () => {
    server.app.clock.advance(1_000);
    return (await listed(server.app, "/v1/notifications?status=dead")).length === 1;
  });
  expect(await afterAll(server)).toEqual([["accepted"]]);
  expect(broken.received).toHaveLength(3);
});

test("a replay of what came back sends nothing", async () => {
  const [one, other] = [await skyhook({ peer }), await skyhook({ peer })];
  await notify(one, other, {});
  await notify(other, one, {});
  await one.app.deliverSample("task_tracker", "task.completed");
  await afterAll(one, other);
  const [echo] = await listed(one.app, "/v1/events?provider=peer");
  const path = `/v1/events/${String(echo?.["id"])}/replay`;
  const replayed = await json(await one.app.as("operator", path, { method: "POST" }));
  expect(replayed).toMatchObject({ status: "ignored" });
  expect(await afterAll(one, other)).toEqual([["accepted", "ignored"], ["accepted"]]);
  expect(await listed(one.app, "/v1/notifications")).toHaveLength(1);
});

/** Posts a body as the service of a file would. */
async function deliver(to: Skyhook, id: string, body: Record<string, unknown>): Promise<void> {
  const provider = readProvider(id, join(to.folder, `${id}.yaml`));
  const response = await postSigned(to.app, provider, { secret }, { headers: {}, body });
  expect(response.status).toBe(200);
}

const slackEvent = (event: object) => ({
  type: "event_callback",
  event_id: `Ev${crypto.randomUUID()}`,
  event: { type: "message", channel: "C1", ts: "1.2", ...event },
});

const pagerdutyEvent = (type: string, event: object) => ({
  event: { id: crypto.randomUUID(), event_type: type, resource_type: "incident", ...event },
});

/** How two services answer what a destination sends them: with events of their own. */
const services = {
  slack: {
    human: () => slackEvent({ user: "U1", text: "Is it up?" }),
    events: () => [
      slackEvent({ bot_id: "B1", app_id: "A1", text: "from an app" }),
      slackEvent({ subtype: "bot_message", text: "from an incoming webhook" }),
      // Slack unfurled a link of the message.
      slackEvent({ subtype: "message_changed", message: { bot_id: "B1" } }),
      slackEvent({ subtype: "message_deleted", deleted_ts: "1.2" }),
    ],
  },
  pagerduty: {
    human: () =>
      pagerdutyEvent("incident.triggered", {
        client: { name: "PagerDuty" },
        data: { id: "P1", incident_key: "4f2c", title: "Pool is empty" },
      }),
    events: (body: string) => {
      const { dedup_key: incident_key } = Object(JSON.parse(body));
      const data = { id: "P2", incident_key, title: "Incident: Pool is empty" };
      return [
        pagerdutyEvent("incident.triggered", { client: { name: "Skyhook" }, agent: null, data }),
        // It was not acknowledged in time.
        pagerdutyEvent("incident.escalated", { client: null, agent: null, data }),
      ];
    },
  },
} as const;

test.each([
  ["slack", null, 0],
  ["slack", 'event.provider == "slack"', 1],
  ["pagerduty", null, 0],
  ["pagerduty", 'event.provider == "pagerduty"', 1],
] as const)(
  "what a %s destination with the filter %p causes is never notified",
  async (id, filter, sent) => {
    const { human, events } = services[id];
    const server = await skyhook({ [id]: catalogueFiles[id] ?? "" });
    await using service = testGateway(async (_, { body }) => {
      for (const event of events(body)) await deliver(server, id, event);
      return new Response("ok");
    });
    const key = id === "pagerduty" ? { secret: "a routing key" } : {};
    await createDestination(server, { name: "chat", format: id, url: service.url, filter, ...key });
    await using everything = testGateway();
    await createDestination(server, { name: "all", format: "json", url: everything.url });
    await deliver(server, id, human());
    const echoes = Array.from({ length: sent * events("{}").length }, () => "ignored");
    expect(await afterAll(server)).toEqual([["accepted", ...echoes]]);
    expect(service.received).toHaveLength(sent);
    // The others receive what a person wrote, whatever that one does.
    expect(everything.received).toHaveLength(1);
    await server.app.deliverSample("task_tracker", "task.completed");
    await afterAll(server);
    expect([service.received.length, everything.received.length]).toEqual([
      filter === null ? 1 : sent,
      2,
    ]);
  },
);
