import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import type { Seats } from "../../booking/flights/seats.ts";
import type { MakeId } from "../../base/ids.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Storage } from "../../db/storage.ts";
import { detached } from "../../telemetry/tracing/span.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";

import { type Feed, feed, logFeed } from "./channels/feed.ts";
import { gateway } from "./channels/gateway.ts";
import type { NotificationMetrics } from "./notification-metrics.ts";
import { type Notifier, notifier } from "./notifier.ts";
import { otherInstances } from "./other-instances.ts";
import { type Outbox, outbox } from "./outbox.ts";

/** Tells what was committed to all who are to know: the feed, the log, the operator gateway, other instances. */
export interface Announcer {
  readonly feed: Feed;
  readonly outbox: Outbox;
  start(): Promise<void>;
  /** Takes no more, and waits for deliveries to the operator gateway; what is cut off is sent again. */
  stop(): Promise<void>;
}

interface Parts {
  readonly storage: Storage;
  readonly seats: Seats;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: NotificationMetrics;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  /** In [0, 1). */
  readonly random: () => number;
  readonly makeId: MakeId;
}

/** How long a stop waits for deliveries to the operator gateway. */
const deliveryPatienceMs = 4_000;

export function announcer(
  parts: Parts,
  config: Pick<Config, "operatorGatewayUrl" | "operatorGatewaySecret" | "logLevel">,
): Announcer {
  const { storage, seats, clock, log, metrics } = parts;
  const { signals } = storage;
  const logs = config.logLevel === "debug" || config.logLevel === "info";
  // The log follows too, but is nobody's client.
  const following = feed(storage, clock, (count) => {
    metrics.subscribers(Math.max(0, logs ? count - 1 : count));
  });
  const delivering = gatewayNotifier(parts, config);
  const listening = signals && otherInstances(signals, { feed: following, seats, wake }, clock);

  /** What they do from now on is no part of the request that they are told by. */
  function wake(): void {
    detached(() => {
      following.wake();
      delivering?.wake();
    });
  }

  /** Something is to be told, here and by the other instances. */
  function committed(): void {
    wake();
    signals?.send("notifications", 0);
  }

  const channels = { hasGateway: delivering !== null, wake: committed };
  return {
    feed: following,
    outbox: outbox(channels, parts.makeId, () => clock.now()),
    async start() {
      await delivering?.start();
      listening?.start();
      if (logs) void logFeed(following, log, clock);
    },
    async stop() {
      listening?.stop();
      await delivering?.stop(deliveryPatienceMs);
    },
  };
}

/** Null: there is no operator gateway. */
function gatewayNotifier(
  parts: Parts,
  {
    operatorGatewayUrl: url,
    operatorGatewaySecret: secret,
  }: Pick<Config, "operatorGatewayUrl" | "operatorGatewaySecret">,
): Notifier | null {
  if (url === null || secret === null) return null;
  return notifier({ ...parts, gateway: gateway(url, secret, parts.clock) });
}
