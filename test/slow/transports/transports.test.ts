import { expect, test } from "bun:test";

import { json, startApp, until } from "../../support/app.ts";
import { brokerHere, noBroker } from "../../support/brokers.ts";
import { type Served, transportSuite } from "../../support/transport-suite.ts";

const names = ["rabbitmq", "nats", "redis"] as const;
const served = names.map(async (name): Promise<Served> => [
  name,
  (await brokerHere(name)) ?? noBroker(name),
]);
transportSuite("server", await Promise.all(served));

test("a server that accepts and never confirms: each attempt ends, and its message is forgotten", async () => {
  let connections = 0;
  using silent = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: () => void (connections += 1), data() {} },
  });
  await using app = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "operators" });
  for (const [transport, url] of [
    ["rabbitmq", `amqp://guest:guest@127.0.0.1:${silent.port}/?routingKey=a`],
    ["nats", `nats://127.0.0.1:${silent.port}?subject=a`],
    ["redis", `redis://127.0.0.1:${silent.port}/0?stream=a`],
    ["sqs", `http://key:secret@127.0.0.1:${silent.port}/0/a?region=us-east-1`],
  ] as const) {
    const made = await app.as("admin", "/v1/destinations", {
      method: "POST",
      body: JSON.stringify({ name: transport, format: "json", transport, url }),
      headers: { "content-type": "application/json" },
    });
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
