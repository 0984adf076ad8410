import { ownNotification } from "../booking/events/own-events.ts";
import { bookingsProvider } from "../booking/model/booking-words.ts";
import type { Event } from "../event/event.ts";
import type { NewNotification } from "../event/new-notification.ts";
import { eventReplay } from "../events/event-replay.ts";
import { eventStreams } from "../events/event-streams.ts";
import { events } from "../events/events.ts";
import { replayRunner } from "../events/replay-runner.ts";
import { replays } from "../events/replays.ts";
import type { AlsoDelete } from "../events/retention/delete-events.ts";
import { retention } from "../events/retention/retention.ts";
import { weekMetrics } from "../events/retention/week-metrics.ts";
import { readWeeks } from "../events/retention/weeks.ts";
import type { EventServices } from "../events/room.rest.ts";
import { searchIndex } from "../events/search-index.ts";
import type { Audit } from "../identity/audit/audit.ts";
import { reveals } from "../identity/audit/reveals.ts";
import { notificationsOf } from "../inbound/providers/interpret.ts";
import type { CheckProvider } from "../inbound/providers/provider-filter.ts";
import type { Notice } from "../inbound/providers/provider.ts";
import type { Registry } from "../inbound/providers/registry.ts";
import { alertNotification, skyhookProvider } from "../operations/alerts.ts";
import type { DestinationCache } from "../outbound/deliveries/destination-cache.ts";
import type { Outbox } from "../outbound/deliveries/outbox.ts";
import type { EventFeed } from "../outbound/notifications/event-feed.ts";

import type { Platform } from "./platform.ts";

interface Parts {
  readonly registry: Registry;
  readonly audit: Audit;
  readonly outbox: Outbox;
  readonly eventFeed: EventFeed;
  readonly destinationCache: DestinationCache;
  readonly checkProvider: CheckProvider;
  readonly alsoDelete: AlsoDelete;
}

/** Stored events: found, streamed, replayed and, after their time, deleted. */
export function eventServices(platform: Platform, parts: Parts) {
  const { config, storage, clock, log, makeId } = platform;
  const { registry, audit, outbox, eventFeed, destinationCache, checkProvider } = parts;
  const retentionTask = retention(
    storage,
    {
      eventDays: config.eventRetentionDays,
      bodyDays: config.bodyRetentionDays,
      auditDays: config.auditRetentionDays,
    },
    clock,
    log,
    parts.alsoDelete,
  );
  weekMetrics(platform.metrics, () => readWeeks(storage, config.eventRetentionDays));
  const read = reveals({ storage, audit, clock, log });
  const indexing = searchIndex(storage, clock, log);

  /** The notifications for an event of a provider, of bookings or of Skyhook itself. */
  function notificationsFor(event: Event, notice: Notice | null): readonly NewNotification[] {
    if (event.provider === bookingsProvider) return [ownNotification(event)];
    if (event.provider === skyhookProvider) return [alertNotification(event)];
    const provider = registry.provider(event.provider);
    return provider === undefined ? [] : notificationsOf(provider, event, notice);
  }

  const replaying = eventReplay(storage, outbox, notificationsFor, (id) => registry.provider(id));
  const running = replayRunner({ storage, outbox, index: indexing, replaying, clock, log });
  const services: EventServices = {
    events: events(
      storage,
      indexing,
      outbox,
      replaying,
      destinationCache,
      audit,
      read,
      checkProvider,
    ),
    replays: replays({
      storage,
      index: indexing,
      replaying,
      checkProvider,
      audit,
      clock,
      makeId,
      wake: () => running.wake(),
    }),
    eventStreams: eventStreams({
      storage,
      eventFeed,
      index: indexing,
      checkProvider,
      audit,
      clock,
    }),
  };
  return {
    services,
    lateRetention: () => retentionTask.late(),
    async start() {
      retentionTask.start();
      indexing.start();
      await running.start();
    },
    async stop() {
      await Promise.all([retentionTask.stop(), indexing.stop(), running.stop()]);
    },
  };
}
