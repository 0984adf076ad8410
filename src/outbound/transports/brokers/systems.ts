import type { System } from "../transport.ts";
import type { TransportName } from "../transports.ts";

import { mail } from "./mail.ts";
import { nats } from "./nats.ts";
import { rabbitmq } from "./rabbitmq.ts";
import { redis } from "./redis.ts";

/** The systems that need a library, which each loads when it opens a connection. */
export const systems = { smtp: mail, rabbitmq, nats, redis } as const satisfies Partial<
  Record<TransportName, System>
>;

export type SystemName = keyof typeof systems;
