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

/** Dispatches committed notifications to the feed, the log, the operator gateway and other instances. */
export interface Dispatcher {
  readonly feed: Feed;
  readonly outbox: Outbox;
  start(): Promise<void>;
  /** Accepts no more notifications and waits for running deliveries. Interrupted ones are sent again after a restart. */
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
  /** Called when polling the database finds new notifications. */
  readonly onNews: () => void;
}

export interface DispatcherOptions {
  /** Null if no operator gateway is configured. */
  readonly operatorGateway: { readonly url: string; readonly key: Uint8Array } | null;
  /** Whether each notification is written to the log. */
  readonly logs: boolean;
}

/** How long a stop waits for running deliveries to the operator gateway. */
const deliveryPatienceMs = 4_000;

export function dispatcher(parts: Parts, { operatorGateway, logs }: DispatcherOptions): Dispatcher {
  const { storage, clock, log, metrics, onNews } = parts;
  const { signals } = storage;
  // The log follows the feed too, but does not count as a subscriber.
  const following = feed(storage, clock, (count) => {
    metrics.subscribers(Math.max(0, logs ? count - 1 : count));
  });
  const delivering =
    operatorGateway === null
      ? null
      : notifier({ ...parts, gateway: gateway(operatorGateway.url, operatorGateway.key, clock) });
  const listening = signals && otherInstances(signals, { feed: following, wake, onNews }, clock);

  /** Detached, so that their work is not part of the trace of the current request. */
  function wake(): void {
    detached(() => {
      following.wake();
      delivering?.wake();
    });
  }

  /** Wakes the channels of this instance and of the others. */
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
