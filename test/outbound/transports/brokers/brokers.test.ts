import { expect, test } from "bun:test";

import { AddressError } from "../../../../src/base/public-address.ts";
import { brokers } from "../../../../src/outbound/transports/brokers/brokers.ts";
import type { BrokerName } from "../../../../src/outbound/transports/transports.ts";
import { thrown } from "../../../support/failure.ts";

const publicOnly = { allowsPrivate: false };

/** The error for an address; null if it is accepted. */
function errorOf(name: BrokerName, address: string, allowsPrivate: boolean): string | null {
  const error = thrown(AddressError, () => brokers[name].check(address, { allowsPrivate }));
  expect(error?.message ?? "").not.toContain("hunter2");
  return error?.message ?? null;
}

test.each([
  [
    "rabbitmq",
    "amqps://u:hunter2@mq.example.com/vhost?exchange=events&routingKey={provider}.{type}",
  ],
  ["rabbitmq", "amqps://mq.example.com?routingKey=queue"],
  ["nats", "tls://u:hunter2@nats.example.com:4222?subject=events.{type}&stream=EVENTS"],
  ["nats", "tls://token@nats.example.com?subject=events"],
  ["redis", "rediss://:hunter2@redis.example.com/2?stream=events&maxLength=1000"],
  ["sqs", "https://KEY:hunter2%2F@sqs.eu-west-1.amazonaws.com/123/events.fifo"],
  ["sqs", "https://sqs.eu-west-1.amazonaws.com/1/a"],
  ["s3", "https://KEY:hunter2@bucket.s3.eu-west-1.amazonaws.com/{provider}/{date}/{id}.json"],
  ["s3", "https://KEY:hunter2@minio.example.com/bucket/{id}?region=us-east-1"],
] as const)("%s takes %s", (name, address) => {
  expect(errorOf(name, address, false)).toBeNull();
});

test.each([
  ["rabbitmq", "", "must be like amqps://"],
  ["rabbitmq", "https://mq.example.com", "must be like amqps://"],
  ["rabbitmq", "amqps://u:hunter2@mq.example.com", "must have exchange= or routingKey="],
  ["rabbitmq", "amqps://u:hunter2@mq.example.com?routingKey={owner}", "There is no {owner}"],
  ["rabbitmq", "amqp://u:hunter2@mq.example.com?routingKey=a", "must start with amqps://"],
  ["rabbitmq", "amqps://u:hunter2@127.0.0.1?routingKey=a", "not a public address"],
  ["rabbitmq", "amqps://u:hunter2@0x7f.1?routingKey=a", "not a public address"],
  ["rabbitmq", "amqps://u:%zz@mq.example.com?routingKey=a", "percent-encoded"],
  ["rabbitmq", "amqps://mq.example.com:25?routingKey=a", "Port 25 is not allowed"],
  ["nats", "tls://u:hunter2@nats.example.com", "must have subject="],
  ["nats", "nats://nats.example.com?subject=a", "must start with tls://"],
  ["nats", "tls://nats.internal?subject=a", "not a public address"],
  ["redis", "rediss://:hunter2@redis.example.com", "must have stream="],
  ["redis", "rediss://redis.example.com/x?stream=a", "number of a database"],
  ["redis", "rediss://redis.example.com/0?stream=a&maxLength=0", "maxLength="],
  ["sqs", "https://KEY@sqs.eu-west-1.amazonaws.com/1/a", "must be like https://KEY:SECRET@"],
  ["sqs", "https://KEY:hunter2@sqs.example.com/1/a", "must have region="],
  ["sqs", "http://KEY:hunter2@sqs.eu-west-1.amazonaws.com/1/a", "must start with https://"],
  ["s3", "https://KEY:hunter2@bucket.s3.eu-west-1.amazonaws.com/{date}.json", "must have {id}"],
  ["s3", "https://KEY:hunter2@10.0.0.1/bucket/{id}?region=a", "not a public address"],
] as const)("%s refuses %s: %s", (name, address, said) => {
  expect(errorOf(name, address, publicOnly.allowsPrivate)).toContain(said);
});

test("where private addresses are allowed, so are those without TLS", () => {
  for (const [name, address] of [
    ["rabbitmq", "amqp://guest:guest@127.0.0.1:5672?routingKey=a"],
    ["nats", "nats://127.0.0.1?subject=a"],
    ["redis", "redis://127.0.0.1/0?stream=a"],
    ["sqs", "http://k:s@127.0.0.1:4566/0/a?region=us-east-1"],
  ] as const) {
    expect(errorOf(name, address, true)).toBeNull();
  }
});
