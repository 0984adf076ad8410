import type { Transport } from "../transport.ts";
import type { BrokerName } from "../transports.ts";

import { brokerTransport } from "./broker-connection.ts";
import { s3 } from "./s3.ts";
import { sqs } from "./sqs.ts";

/** What carries messages, besides HTTP. */
export const brokers: Readonly<Record<BrokerName, Transport>> = {
  smtp: brokerTransport("smtp"),
  rabbitmq: brokerTransport("rabbitmq"),
  nats: brokerTransport("nats"),
  redis: brokerTransport("redis"),
  sqs,
  s3,
};
