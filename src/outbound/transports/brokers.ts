import { brokerTransport } from "./broker-connection.ts";
import { s3 } from "./s3.ts";
import { sqs } from "./sqs.ts";
import type { Transport } from "./transport.ts";
import type { BrokerName } from "./transports.ts";

/** Mail servers. */
export const smtp = brokerTransport("smtp");

/** The message systems that carry signed formats. */
export const brokers: Readonly<Record<BrokerName, Transport>> = {
  rabbitmq: brokerTransport("rabbitmq"),
  nats: brokerTransport("nats"),
  redis: brokerTransport("redis"),
  sqs,
  s3,
};
