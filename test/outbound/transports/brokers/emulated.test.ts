import { afterAll, expect, test } from "bun:test";

import { systemClock } from "../../../../src/base/clock.ts";
import { brokers } from "../../../../src/outbound/transports/brokers/brokers.ts";
import { type Message, TransportError } from "../../../../src/outbound/transports/transport.ts";
import type { Broker } from "../../../support/brokers.ts";
import { natsEmulator } from "../../../support/emulators/nats.ts";
import { rabbitmqEmulator } from "../../../support/emulators/rabbitmq.ts";
import { redisEmulator } from "../../../support/emulators/redis.ts";

const rabbitmq = await rabbitmqEmulator();
const nats = await natsEmulator();
const redis = await redisEmulator("hunter2");
afterAll(async () => {
  for (const broker of [rabbitmq, nats, redis]) await broker.stop();
});

const message: Message = {
  id: "ntf_1.dst_1",
  headers: { "content-type": "application/json" },
  body: "{}",
  event: { id: "evt_1", provider: "p", type: "t", createdAt: new Date(0) },
  attributes: null,
  orderKey: null,
};
const never = new AbortController().signal;

/** Sends messages by one connection. Returns the error of the last one, or null. */
async function sent(broker: Broker, url: string, ...messages: readonly Partial<Message>[]) {
  const parts = {
    clock: systemClock,
    rules: { allowsPrivate: true },
    resolve: async () => [],
    platform: {},
  };
  const connection = brokers[broker.name].connect(url, parts);
  const sending = messages.map((fields) => connection.send({ ...message, ...fields }, never));
  const error = (await Promise.all(sending.map((each) => each.catch((thrown) => thrown)))).at(-1);
  connection.close();
  return error instanceof TransportError ? { error: error.message, isFinal: error.isFinal } : null;
}

test.each([rabbitmq, nats].map((broker) => [broker.name, broker] as const))(
  "%s: a message that is too large is not sent again, and those before it arrive",
  async (_, broker) => {
    await broker.prepare("large");
    const [small, large] = [{ id: "ntf_0" }, { body: "x".repeat(1_048_577) }];
    const refused = await sent(broker, broker.address("large"), small, large);
    expect(refused).toEqual({ error: expect.stringMatching(/larger|at most/), isFinal: true });
    expect(await broker.read("large")).toHaveLength(1);
  },
);

test("rabbitmq keeps a message when it is started again", async () => {
  await rabbitmq.prepare("kept");
  expect(await sent(rabbitmq, rabbitmq.address("kept"), {})).toBeNull();
  await rabbitmq.server?.kill();
  await rabbitmq.server?.start();
  expect(await rabbitmq.read("kept")).toHaveLength(1);
});

test("nats stores a repeated message once, in the stream of the address, with headers in ASCII", async () => {
  await nats.prepare("one");
  const attributes = { subject: "Zoë 50%" };
  expect(await sent(nats, nats.address("one"), { attributes }, { attributes })).toBeNull();
  const [stored, ...others] = await nats.read("one");
  expect(others).toEqual([]);
  expect(stored?.headers["ce-subject"]).toBe("Zo%C3%AB%2050%25");
  const elsewhere = nats.address("one").replace("stream=one", "stream=two");
  const refused = await sent(nats, elsewhere, {});
  expect(refused?.error).toContain("expected stream does not match");
});

test("redis gets the login before any message, and the stream is trimmed", async () => {
  const address = (login: string) =>
    `${redis.address("{type}").replace("//", `//${login}`)}&maxLength=2`;
  expect((await sent(redis, address(""), {}))?.error).toContain("NOAUTH");
  const messages = ["1", "2", "3"].map((body) => ({ body }));
  for (const [index, login] of [":hunter2@", "user:hunter2@"].entries()) {
    const event = { ...message.event, type: `../${index}` };
    const withType = messages.map((each) => ({ ...each, event }));
    expect(await sent(redis, address(login), ...withType)).toBeNull();
    const stored = await redis.read(`.._${index}`);
    expect(stored.map(({ body }) => body)).toEqual(["2", "3"]);
  }
});
