import type { Clock } from "../../base/clock.ts";
import type { MakeId } from "../../base/ids.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Storage } from "../../db/storage.ts";
import { detached } from "../../telemetry/tracing/span.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";

import { type Feed, feed, logFeed } from "./channels/feed.ts";
import { gateway } from "./channels/gateway.ts";
import type { NotificationMetrics } from "./notification-metrics.ts";
import { notifier } from "./notifier.ts";
import { otherInstances } from "./other-instances.ts";
import { type Outbox, outbox } from "./outbox.ts";

/** Passes committed notifications on: to the feed, the log, the operator gateway and other instances. */
export interface Dispatcher {
  readonly feed: Feed;
  readonly outbox: Outbox;
  start(): Promise<void>;
  /** Takes no more, and waits for deliveries to the operator gateway; what is cut off is sent again. */
  stop(): Promise<void>;
}

interface Parts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: NotificationMetrics;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  /** In [0, 1). */
  readonly random: () => number;
  readonly makeId: MakeId;
  /** Called when a look at the database finds notifications that came since the last one. */
  readonly onNews: () => void;
}

export interface DispatcherOptions {
  /** Null: there is no operator gateway. */
  readonly operatorGateway: { readonly url: string; readonly key: Uint8Array } | null;
  /** Whether each notification is written to the log. */
  readonly logs: boolean;
}

/** How long a stop waits for deliveries to the operator gateway. */
const deliveryPatienceMs = 4_000;

export function dispatcher(parts: Parts, { operatorGateway, logs }: DispatcherOptions): Dispatcher {
  const { storage, clock, log, metrics, onNews } = parts;
  const { signals } = storage;
  // The log follows too, but is nobody's client.
  const following = feed(storage, clock, (count) => {
    metrics.subscribers(Math.max(0, logs ? count - 1 : count));
  });
  const delivering =
    operatorGateway === null
      ? null
      : notifier({ ...parts, gateway: gateway(operatorGateway.url, operatorGateway.key, clock) });
  const listening = signals && otherInstances(signals, { feed: following, wake, onNews }, clock);

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
