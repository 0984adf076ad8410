import { nats } from "./nats.ts";
import { rabbitmq } from "./rabbitmq.ts";
import { redis } from "./redis.ts";
import { s3 } from "./s3.ts";
import { sqs } from "./sqs.ts";
import type { Transport } from "./transport.ts";
import type { BrokerName } from "./transports.ts";

/** The message systems that carry signed formats. Each loads its library at the first message. */
export const brokers: Readonly<Record<BrokerName, Transport>> = { rabbitmq, nats, sqs, s3, redis };
