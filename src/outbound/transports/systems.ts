import { mail } from "./mail.ts";
import { nats } from "./nats.ts";
import { rabbitmq } from "./rabbitmq.ts";
import { redis } from "./redis.ts";
import type { System } from "./transport.ts";
import type { TransportName } from "./transports.ts";

/** What is reached by a library. Each loads it when its connection is opened. */
export const systems = { smtp: mail, rabbitmq, nats, redis } as const satisfies Partial<
  Record<TransportName, System>
>;

export type SystemName = keyof typeof systems;
