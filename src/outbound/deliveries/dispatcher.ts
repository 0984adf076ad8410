import { backgroundTask } from "../../base/background-task.ts";
import { write } from "../../db/statement.ts";
import { runDetached } from "../../telemetry/tracing/span.ts";
import type { Destination } from "../model/destination.ts";
import { recordRecovery } from "../model/destinations.sql.ts";
import { type EventFeed, eventFeed } from "../notifications/event-feed.ts";
import { type Feed, feed, logFeed } from "../notifications/feed.ts";

import { type Notifier, notifier, type NotifierParts } from "./notifier.ts";
import { type Outbox, outbox } from "./outbox.ts";

/** Dispatches committed notifications to the feed, the log, all destinations and other instances, and events to their feed. */
interface Dispatcher extends Pick<Notifier, "stalled"> {
  readonly feed: Feed;
  readonly eventFeed: EventFeed;
  readonly outbox: Outbox;
  /** Call after a destination was changed; without an id to read them all. */
  refresh(id?: Destination["id"]): Promise<void>;
  /** Sends to a destination again if its circuit is open. */
  closeCircuit(id: Destination["id"]): Promise<void>;
  start(): Promise<void>;
  /** Accepts no more notifications and waits for running deliveries. Interrupted ones are sent again after a restart. */
  stop(): Promise<void>;
}

interface Parts extends NotifierParts {
  /** Called when polling the database finds new notifications. */
  readonly onNews: () => void;
}

interface DispatcherOptions {
  /** Whether each notification is written to the log. */
  readonly logs: boolean;
}

/** The longest delay after a lost signal, for example if the sender dies after its commit. */
const lookIntervalMs = 2_000;

/** How long a stop waits for running deliveries. */
const deliveryPatienceMs = 4_000;

export function dispatcher(parts: Parts, { logs }: DispatcherOptions): Dispatcher {
  const { storage, clock, log, metrics, onNews } = parts;
  const { signals } = storage;
  const subscribers = { feed: 0, events: 0 };
  const count = (name: keyof typeof subscribers, followers: number) => {
    subscribers[name] = followers;
    // The log follows the feed too, but does not count as a subscriber.
    const others = Math.max(0, logs ? subscribers.feed - 1 : subscribers.feed);
    metrics.subscribers(others + subscribers.events);
  };
  const following = feed(storage, clock, (followers) => count("feed", followers));
  const followingEvents = eventFeed(storage, clock, (followers) => count("events", followers));
  const delivering = notifier(parts);
  let newest = "";
  /** Finds what other instances, or commands, stored: on a database without signals, or if one is lost. */
  const polling = backgroundTask(clock, async () => {
    try {
      const found = `${await following.newestSeq()} ${await followingEvents.newestSeq()}`;
      if (found !== newest) {
        storedElsewhere();
        onNews();
      }
      newest = found;
    } catch {
      // Followers report the error when they read. The next poll finds what this one missed.
    }
    return lookIntervalMs;
  });

  /** Detached, so that their work is not part of the trace of the current request. */
  function wake(destinations: ReadonlySet<Destination["id"]> | null): void {
    runDetached(() => {
      following.wake();
      followingEvents.wake();
      delivering.wake(destinations);
    });
  }

  /** Another process stored events, perhaps with deliveries. */
  function storedElsewhere(): void {
    wake(new Set());
    runDetached(() => delivering.wakeDue());
  }

  /** Wakes the channels of this instance and of the others. */
  function committed(destinations: ReadonlySet<Destination["id"]> | null): void {
    wake(destinations);
    signals?.send("notifications", 0);
  }

  async function refresh(id?: Destination["id"]): Promise<void> {
    await delivering.refresh(id);
    signals?.send("destinations", 0);
  }

  /** Another instance has changed a destination. Polling finds what a lost signal or an error missed. */
  function changedElsewhere(): void {
    delivering.refresh().catch((error: unknown) => {
      log.error({ err: error }, "failed to read destinations; retrying");
    });
  }

  return {
    feed: following,
    eventFeed: followingEvents,
    outbox: outbox({
      storage,
      wake: committed,
      destinations: parts.destinations,
      now: () => clock.now(),
    }),
    refresh,
    stalled: () => delivering.stalled(),
    async closeCircuit(id) {
      const [closed] = await storage.atomically(write(recordRecovery, { id }));
      if (closed.changes > 0) await refresh(id);
    },
    async start() {
      await delivering.start();
      signals?.listen("notifications", storedElsewhere, storedElsewhere);
      polling.start(lookIntervalMs);
      signals?.listen("destinations", changedElsewhere, changedElsewhere);
      if (logs) void logFeed(following, log, clock);
    },
    async stop() {
      await Promise.all([polling.stop(), delivering.stop(deliveryPatienceMs)]);
    },
  };
}
