import { afterAll, describe, expect, test } from "bun:test";

import type { BrokerName } from "../../src/outbound/transports/transports.ts";

import { json, jsonWith, startApp, type TestApp, until } from "./app.ts";
import type { Broker } from "./brokers.ts";
import { requireSigned } from "./signed-message.ts";
import { skips } from "./skips.ts";

/** A message system, or why it is missing. */
export type Served = readonly [name: BrokerName, broker: Broker | string];

const post = (body: object) => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});

const startSender = () => startApp({ DESTINATIONS_ALLOW_PRIVATE: "operators" });

/** Creates a destination and returns it. */
async function create(app: TestApp, broker: Broker, url: string, fields: object = {}) {
  const body = { name: "target", format: "json", transport: broker.name, url, ...fields };
  const made = await jsonWith(await app.as("admin", "/v1/destinations", post(body)), 201);
  return { id: String(made["id"]), secret: String(made["secret"]) };
}

/** Returns its newest delivery. */
async function lastDelivery(app: TestApp, id: string): Promise<Record<string, unknown>> {
  const { data } = await json(await app.as("admin", `/v1/destinations/${id}/deliveries`));
  return Object(Object(data)[0]);
}

const payload =
  '{ "id":"evt_9",\t"type": "invoice.paid", "created": 1, "data": {"object": {"id": "in_1"}} }';

/** What is wrong with an address, and how the error says so. */
const wrong: Partial<
  Record<BrokerName, readonly (readonly [string, (url: string) => string, RegExp])[]>
> = {
  rabbitmq: [
    ["an unknown queue", (url) => url, /routes the message to no queue/],
    ["an unknown exchange", (url) => `${url}&exchange=none`, /no exchange/],
    ["a wrong password", (url) => url.replace(":guest@", ":wrong@"), /ACCESS_REFUSED/],
  ],
  nats: [
    ["a subject that no stream stores", (url) => url.replace(/&stream=.*/, ""), /stores none/],
    ["a server without TLS", (url) => url.replace("nats:", "tls:"), /tls/i],
  ],
  sqs: [["an unknown queue", (url) => url, /HTTP 400/]],
  s3: [["an unknown bucket", (url) => url, /HTTP 404/]],
};

/** Sends through each message system, and reads what arrives. */
export function transportSuite(kind: string, all: readonly Served[]): void {
  afterAll(async () => {
    for (const [, broker] of all) if (typeof broker === "object") await broker.stop();
  });
  describe.each(all)(`%s (${kind})`, (_, served) => {
    if (typeof served === "object") return brokerSuite(served);
    test.skipIf(skips(served))("sends", () => {});
  });
}

function brokerSuite(broker: Broker): void {
  const prepared = async () => {
    const topic = `t${crypto.randomUUID().slice(0, 8)}`;
    await broker.prepare(topic);
    return topic;
  };

  test("carries the request of HTTP, so that a consumer verifies it the same way", async () => {
    await using app = await startSender();
    const topic = await prepared();
    const fields = { orderBy: "event.subject", headers: "x-team: ops" };
    const createAs = (format: string) =>
      create(app, broker, broker.address(topic), { ...fields, name: format, format });
    const plain = await createAs("json");
    const cloud = await createAs("cloudevents");
    const original = await createAs("original");
    const tested = app.as("admin", `/v1/destinations/${plain.id}/test`, { method: "POST" });
    expect(await json(await tested)).toMatchObject({ delivered: true, error: null });
    // The consumer's library parses the body of any other JSON type.
    const headers = { "content-type": "application/json; charset=utf-8" };
    await app.deliver("payment_processor", payload, { headers });
    await until(async () => {
      const { data } = Object(await json(await app.as("operator", "/v1/notifications")));
      return data[0]?.status === "delivered";
    });
    const taken = await broker.read(topic);
    expect(taken).toHaveLength(4);
    for (const { headers } of taken) expect(headers["x-team"]).toBe("ops");
    const [raw] = taken.filter(({ body }) => body === payload);
    if (raw === undefined) throw new Error("The original is not there");
    requireSigned(raw, original.secret, "skyhook-");
    const names = Object.keys(raw.headers);
    expect(names.some((each) => /^(?:stripe|x-payment)-signature$/.test(each))).toBe(true);
    for (const message of taken.filter(({ body }) => body !== payload)) {
      const isCloud = "specversion" in JSON.parse(message.body);
      requireSigned(message, (isCloud ? cloud : plain).secret);
      const attribute = message.headers["ce-type"] ?? message.headers["cloudEvents:type"];
      const hasBinding = broker.name === "rabbitmq" || broker.name === "nats";
      expect([isCloud, attribute !== undefined]).toEqual([isCloud, hasBinding && !isCloud]);
    }
  }, 60_000);

  const refused = wrong[broker.name] ?? [];
  test.each(refused)(
    "with %s, nothing is lost, and the error says why",
    async (_, change, error) => {
      await using app = await startSender();
      const { id } = await create(app, broker, change(broker.address("none")));
      await app.deliverSample("task_tracker", "task.completed");
      await until(async () => (await lastDelivery(app, id))["status"] === "retrying", 15_000);
      expect(String((await lastDelivery(app, id))["lastError"])).toMatch(error);
    },
    30_000,
  );

  const { server } = broker;
  if (server === null) return;

  test("stopped and started again under one program, receives what waited", async () => {
    await using app = await startSender();
    const topic = await prepared();
    const { id } = await create(app, broker, broker.address(topic), { retryDelays: "10s" });
    const deliver = async () => {
      const { id: event } = await json(await app.deliverSample("task_tracker", "task.completed"));
      return String(event);
    };
    const arrived: string[] = [];
    const arrives = (event: string) =>
      until(async () => {
        const taken = await broker.read(topic);
        arrived.push(...taken.map(({ body }) => String(Object(JSON.parse(body)).data.event.id)));
        return arrived.includes(event);
      });
    await arrives(await deliver());
    await server.kill();
    const waiting = await deliver();
    await until(async () => (await lastDelivery(app, id))["status"] === "retrying");
    expect(String((await lastDelivery(app, id))["lastError"])).toMatch(/refused|closed|ended/);
    await server.start();
    expect(arrived).not.toContain(waiting);
    app.clock.advance(10_000);
    await arrives(waiting);
    // The connection that the outage broke costs later messages no attempt.
    await arrives(await deliver());
    await until(async () => (await lastDelivery(app, id))["status"] === "delivered");
    expect((await lastDelivery(app, id))["attemptCount"]).toBe(1);
  }, 120_000);
}
