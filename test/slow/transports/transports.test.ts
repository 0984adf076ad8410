import { afterAll, expect, test } from "bun:test";

import { Webhook } from "standardwebhooks";

import { json, startApp, until } from "../../support/app.ts";
import { type Broker, brokerHere, emulators, noBroker, type Taken } from "../../support/brokers.ts";
import { skips } from "../../support/skips.ts";

const servers = await Promise.all(
  (["rabbitmq", "nats", "redis"] as const).map(async (name) => ({
    name,
    broker: await brokerHere(name),
  })),
);
const emulated = await emulators();
afterAll(async () => {
  for (const broker of emulated) await broker.stop();
});

const post = (body: object) => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});
const env = { DESTINATIONS_ALLOW_PRIVATE: "operators" };

/** Verifies a message as a consumer of HTTP would. */
function requireSigned({ body, headers }: Taken, secret: string, prefix = ""): void {
  const [id = "", at = "", signature] = ["id", "timestamp", "signature"].map(
    (name) => headers[`${prefix}webhook-${name}`],
  );
  expect(signature).toBe(new Webhook(secret).sign(id, new Date(Number(at) * 1_000), body));
}

const cases: readonly (readonly [string, Broker | null])[] = [
  ...servers.map(({ name, broker }) => [name, broker] as const),
  ...emulated.map((broker) => [`${broker.name} (emulator)`, broker] as const),
];

for (const [name, broker] of cases) {
  test.skipIf(skips(broker === null ? noBroker(name) : null))(
    `${name} carries the request of HTTP, so that a consumer verifies it the same way`,
    async () => {
      if (broker === null) return;
      await using app = await startApp(env);
      const topic = `t${crypto.randomUUID().slice(0, 8)}`;
      await broker.prepare(topic);
      const create = async (format: string) => {
        const body = {
          name: format,
          format,
          transport: broker.name,
          url: broker.address(topic),
          orderBy: "event.subject",
          headers: "x-team: ops",
        };
        const answer = await app.as("admin", "/v1/destinations", post(body));
        expect([answer.status, format]).toEqual([201, format]);
        return Object(await json(answer));
      };
      const [plain, cloud, original] = [
        await create("json"),
        await create("cloudevents"),
        await create("original"),
      ];
      expect(
        await json(await app.as("admin", `/v1/destinations/${plain.id}/test`, { method: "POST" })),
      ).toMatchObject({ delivered: true, error: null });
      const payload =
        '{ "id":"evt_9",\t"type": "invoice.paid", "created": 1, "data": {"object": {"id": "in_1"}} }';
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
      requireSigned(raw, String(original.secret), "skyhook-");
      expect(
        Object.keys(raw.headers).some((each) => /^(?:stripe|x-payment)-signature$/.test(each)),
      ).toBe(true);
      const others = taken.filter(({ body }) => body !== payload);
      for (const message of others) {
        const isCloud = "specversion" in JSON.parse(message.body);
        requireSigned(message, String(isCloud ? cloud.secret : plain.secret));
        const attribute = message.headers["ce-type"] ?? message.headers["cloudEvents:type"];
        const hasBinding = broker.name === "rabbitmq" || broker.name === "nats";
        expect([isCloud, attribute !== undefined]).toEqual([isCloud, hasBinding && !isCloud]);
      }
    },
    60_000,
  );
}

const refused: readonly (readonly [string, string, (broker: Broker) => string, RegExp])[] = [
  [
    "rabbitmq",
    "an unknown queue",
    () => "amqp://guest:guest@127.0.0.1:5672/?routingKey=nobody-reads",
    /routes the message to no queue/,
  ],
  [
    "rabbitmq",
    "an unknown exchange",
    () => "amqp://guest:guest@127.0.0.1:5672/?exchange=none",
    /no exchange/,
  ],
  [
    "rabbitmq",
    "a wrong password",
    () => "amqp://guest:wrong@127.0.0.1:5672/?routingKey=a",
    /ACCESS_REFUSED/,
  ],
  [
    "rabbitmq",
    "no server",
    () => "amqp://guest:guest@127.0.0.1:9/?routingKey=a",
    /^connection refused$|not allowed/,
  ],
  [
    "nats",
    "a subject that no stream stores",
    () => "nats://127.0.0.1:4222?subject=none.{type}",
    /no stream of JetStream stores none/,
  ],
  [
    "nats",
    "another stream",
    () => "nats://127.0.0.1:4222?subject=none.a&stream=NONE",
    /no stream|does not match/,
  ],
  ["nats", "a server without TLS", () => "tls://127.0.0.1:4222?subject=a", /tls/i],
  ["redis", "no server", () => "redis://127.0.0.1:6399/0?stream=a", /^connection refused$/],
  ["sqs (emulator)", "an unknown queue", (broker) => broker.address("none"), /HTTP 400/],
  ["s3 (emulator)", "an unknown bucket", (broker) => broker.address("none"), /HTTP 404/],
];

for (const [name, what, addressOf, error] of refused) {
  const broker = cases.find(([each]) => each === name)?.[1] ?? null;
  test.skipIf(skips(broker === null ? noBroker(name) : null))(
    `${name} with ${what}: nothing is lost, and the error says why`,
    async () => {
      if (broker === null) return;
      await using app = await startApp(env);
      const body = {
        name: "target",
        format: "json",
        transport: broker.name,
        url: addressOf(broker),
      };
      const made = await app.as("admin", "/v1/destinations", post(body));
      if (made.status !== 201) return expect(await made.text()).toMatch(error);
      const { id } = Object(await json(made));
      await app.deliverSample("task_tracker", "task.completed");
      await until(async () => {
        const { data } = Object(
          await json(await app.as("admin", `/v1/destinations/${id}/deliveries`)),
        );
        return data[0]?.status === "retrying" && error.test(String(data[0]?.lastError));
      }, 15_000);
    },
    30_000,
  );
}

test("a server that accepts and never confirms: each attempt ends, and its message is forgotten", async () => {
  let connections = 0;
  using silent = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: () => void (connections += 1), data() {} },
  });
  await using app = await startApp(env);
  for (const [transport, url] of [
    ["rabbitmq", `amqp://guest:guest@127.0.0.1:${silent.port}/?routingKey=a`],
    ["nats", `nats://127.0.0.1:${silent.port}?subject=a`],
    ["redis", `redis://127.0.0.1:${silent.port}/0?stream=a`],
    ["sqs", `http://key:secret@127.0.0.1:${silent.port}/0/a?region=us-east-1`],
  ] as const) {
    const made = await app.as(
      "admin",
      "/v1/destinations",
      post({ name: transport, format: "json", transport, url }),
    );
    expect([made.status, transport]).toEqual([201, transport]);
    const { id } = Object(await json(made));
    const before = connections;
    const testing = app.as("admin", `/v1/destinations/${id}/test`, { method: "POST" });
    await until(() => connections > before);
    const ended = testing.then(() => true);
    await until(() => {
      app.clock.advance(500);
      return Promise.race([ended, new Promise<false>((resolve) => setTimeout(resolve, 5, false))]);
    }, 20_000);
    expect(Object(await json(await testing))).toMatchObject({ delivered: false });
  }
}, 90_000);
