// Takes seconds: strangers send bytes without end until the connection is closed.
import { expect, test } from "bun:test";

import { skyhookEntrypoints } from "../../../../scripts/build.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import { brokers } from "../../../../src/outbound/transports/brokers/brokers.ts";
import type { Connection, Message } from "../../../../src/outbound/transports/transport.ts";
import { TransportError } from "../../../../src/outbound/transports/transport.ts";
import { until } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { failure } from "../../../support/failure.ts";
import { front, type FrontedName, type Stranger } from "../../../support/front.ts";

const rules = { allowsPrivate: true };
const never = new AbortController().signal;
const message: Message = {
  id: "ntf_1.dst_1",
  headers: { "content-type": "application/json" },
  body: "{}",
  event: { id: "evt_1", provider: "p", type: "t", createdAt: new Date(0) },
  attributes: null,
  orderKey: null,
};
const names: readonly FrontedName[] = ["rabbitmq", "nats", "redis", "smtp"];
const addressOf = (name: FrontedName, port: number) =>
  ({
    rabbitmq: `amqp://127.0.0.1:${port}?routingKey=a`,
    nats: `nats://127.0.0.1:${port}?subject=a`,
    redis: `redis://127.0.0.1:${port}?stream=a`,
    smtp: `smtp://127.0.0.1:${port}?from=a@example.com&to=b@example.com`,
  })[name];

function connectionTo(name: FrontedName, port: number, clock = systemClock): Connection {
  const parts = { clock, rules, resolve: async () => [], platform: {} };
  return brokers[name].connect(addressOf(name, port), parts);
}

/** The error of a message that is not sent. */
async function errorOf(sending: Promise<void>): Promise<string> {
  const error = await failure(sending);
  expect(error).toBeInstanceOf(TransportError);
  return error instanceof TransportError ? error.message : "";
}

const strangers: readonly (readonly [FrontedName, Stranger, RegExp])[] = [
  ["rabbitmq", "a web server", /^not RabbitMQ: HTTP\/1.1 400 Bad Request\r\n/],
  ["redis", "a web server", /^not Redis Streams: HTTP\/1.1 400 Bad Request\r\n/],
  ["rabbitmq", "zeros without end", /^not RabbitMQ: /],
  ["nats", "zeros without end", /^not NATS JetStream: /],
  ["redis", "zeros without end", /^not Redis Streams: /],
  ["smtp", "zeros without end", /^not SMTP: /],
  ["rabbitmq", "a line without end", /./],
  ["nats", "a line without end", /^NATS JetStream answers more than it can$/],
  ["redis", "a line without end", /^the answer is not that of Redis$/],
  ["smtp", "a line without end", /^SMTP answers more than it can$/],
  ["rabbitmq", "an announced length of 2 GiB", /./],
  ["nats", "an announced length of 2 GiB", /./],
  ["redis", "an announced length of 2 GiB", /^the answer is not that of Redis$/],
  ["smtp", "an announced length of 2 GiB", /./],
  ["rabbitmq", "tiny answers without end", /./],
  ["nats", "tiny answers without end", /^NATS JetStream answers more than it can$/],
  ["redis", "tiny answers without end", /^the answer is not that of Redis$/],
  ["smtp", "tiny answers without end", /./],
  ["rabbitmq", "TLS garbage", /^not RabbitMQ: /],
  ["nats", "TLS garbage", /^not NATS JetStream: /],
];

test.each(strangers)(
  "%s, replaced by %s: the attempt fails and says why [BROKER-1]",
  async (name, stranger, error) => {
    const fronted = await front(name, 1, stranger);
    const connection = connectionTo(name, fronted.port);
    const said = await errorOf(connection.send(message, never));
    expect(said).toMatch(error);
    expect(said.length).toBeLessThanOrEqual(1_000);
    await until(() => fronted.connections().open === 0);
    fronted.stop();
  },
);

test.each(names)(
  "%s: the message after one without an answer has a new connection [BROKER-2]",
  async (name) => {
    const fronted = await front(name, 1, "silence");
    const clock = manualClock();
    const connection = connectionTo(name, fronted.port, clock);
    for (const made of [1, 2]) {
      const sending = errorOf(connection.send(message, never));
      await until(() => fronted.connections().made === made);
      clock.advance(10_000);
      expect(await sending).toBe("not confirmed within 10 s");
      await until(() => fronted.connections().open === 0);
    }
    fronted.stop();
  },
);

test.each(names)("%s: an abort closes a connection that is still opening", async (name) => {
  const fronted = await front(name, 1, "silence");
  const connection = connectionTo(name, fronted.port);
  const stop = new AbortController();
  const sending = errorOf(connection.send(message, stop.signal));
  await until(() => fronted.connections().open === 1);
  stop.abort();
  expect(await sending).toBe("interrupted");
  await until(() => fronted.connections().open === 0);
  fronted.stop();
});

test("a connection that breaks while it rests costs no attempt [BROKER-3]", async () => {
  using redis = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.write("$3\r\n0-1\r\n") },
  });
  const fronted = await front("redis", redis.port);
  const connection = connectionTo("redis", fronted.port);
  for (const made of [1, 2]) {
    await connection.send(message, never);
    expect(fronted.connections()).toEqual({ made, open: 1 });
    fronted.replace(null);
    // Until the thread has noticed: nothing outside shows it.
    await Bun.sleep(200);
  }
  connection.close();
  fronted.stop();
});

test("a connection is closed after a minute without messages, and not before [BROKER-5]", async () => {
  const confirms: (() => void)[] = [];
  using redis = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        const messages = bytes.toString().split("XADD").length - 1;
        const confirm = () => void socket.write("$3\r\n0-1\r\n");
        confirms.push(...Array.from({ length: messages }, () => confirm));
      },
    },
  });
  const fronted = await front("redis", redis.port);
  const clock = manualClock();
  const connection = connectionTo("redis", fronted.port, clock);
  /** Sends messages at the same time. They are confirmed one after the other, with this time after each. */
  const send = async (count: number, thenMs: number) => {
    const sending = Array.from({ length: count }, () => connection.send(message, never));
    await until(() => confirms.length === count);
    for (const sent of sending) {
      confirms.shift()?.();
      await sent;
      clock.advance(thenMs);
    }
  };
  await send(2, 5_000);
  clock.advance(49_000);
  // A minute after the first message, and a minute after the second, there were others.
  await send(1, 1_500);
  await send(1, 5_000);
  await send(1, 59_999);
  expect(fronted.connections()).toEqual({ made: 1, open: 1 });
  clock.advance(1);
  await until(() => fronted.connections().open === 0);
  await send(1, 0);
  expect(fronted.connections().made).toBe(2);
  connection.close();
  await until(() => fronted.connections().open === 0);
  fronted.stop();
});

test.each([
  [["$3\r\n0-1\r\n"], null],
  [["$15\r", "\n1764000000000-0\r\n"], null],
  [["+OK\r\n"], "the answer is not that of Redis"],
  [[":1\r\n"], "the answer is not that of Redis"],
  [["$-1\r\n"], "the answer is not that of Redis"],
  [["-WRONGTYPE not a stream\r\n"], "Redis: WRONGTYPE not a stream"],
] as const)("redis answers %j", async (answer, error) => {
  using redis = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async data(socket) {
        for (const piece of answer) {
          socket.write(piece);
          await Bun.sleep(10);
        }
      },
    },
  });
  const connection = connectionTo("redis", redis.port);
  const sending = connection.send(message, never);
  expect(error === null ? ((await sending) ?? null) : await errorOf(sending)).toBe(error);
  connection.close();
});

test("the compiled program contains the thread", () => {
  expect(skyhookEntrypoints.some((file) => file.endsWith("broker-thread.ts"))).toBe(true);
});
