import { systemResolve } from "../base/public-address.ts";
import type { KeyRing } from "../base/sealing.ts";
import { write } from "../db/statement.ts";
import type { Audit } from "../identity/audit/audit.ts";
import type { CallerLimiter } from "../identity/limiter.ts";
import { providerStatus, silentAmong } from "../inbound/provider-status/provider-status.ts";
import { isAtService } from "../inbound/providers/own-service.ts";
import type { Registry } from "../inbound/providers/registry.ts";
import { originals } from "../inbound/receive/originals.ts";
import { alerts } from "../operations/alerts.ts";
import { issues } from "../operations/issues/issues.ts";
import { destinationLatency } from "../operations/statistics/destination-latency.ts";
import { destinationCache, type IsOwnService } from "../outbound/deliveries/destination-cache.ts";
import {
  destinationLabels,
  destinationMetrics,
} from "../outbound/deliveries/destination-metrics.ts";
import { dispatcher } from "../outbound/deliveries/dispatcher.ts";
import { notificationMetrics } from "../outbound/deliveries/notification-metrics.ts";
import { destinationDeliveries } from "../outbound/destinations/destination-deliveries.ts";
import { queuesOf } from "../outbound/destinations/destination-health.sql.ts";
import { destinationHealth } from "../outbound/destinations/destination-health.ts";
import { destinations } from "../outbound/destinations/destinations.ts";
import { filterPreview } from "../outbound/destinations/filter-preview.ts";
import {
  resealDestinations,
  storeOperatorGateway,
} from "../outbound/destinations/operator-gateway.ts";
import { deleteDeliveriesTo, deleteFailuresTo } from "../outbound/model/deliveries.sql.ts";
import { notifications } from "../outbound/notifications/notifications.ts";

import type { Platform } from "./platform.ts";

export type NotificationServices = Awaited<ReturnType<typeof notificationServices>>["services"];

interface Parts {
  readonly registry: Registry;
  readonly audit: Audit;
  readonly tests: CallerLimiter;
  /** Keys for the hashes of requests. */
  readonly hashKeys: () => KeyRing;
  /** Called when polling the database finds new notifications. */
  readonly onNews: () => void;
}

/** Destinations, the deliveries to them, and the issues and alerts of operators. */
export async function notificationServices(
  platform: Platform,
  { registry, audit, tests, hashKeys, onNews }: Parts,
) {
  const { config, storage, clock, log, metrics, makeId, keys, readBacklog } = platform;
  const now = () => clock.now();
  const { destinationsAllowPrivate: privateAllowed } = config;
  const isOwnService: IsOwnService = (destination, id) => {
    const provider = registry.get(id)?.provider;
    return provider !== undefined && isAtService(provider, destination);
  };
  const known = destinationCache({
    storage,
    log,
    clock,
    privateAllowed,
    platform: config.platform,
    resolve: systemResolve,
    keys: () => keys,
    originalOf: originals(storage, registry),
    isOwnService,
  });
  const labelOf = destinationLabels();
  destinationMetrics(metrics, {
    destinations: known,
    labelOf,
    readQueues: (ids) => storage.all(queuesOf, { ids }, "long"),
    now,
  });
  const { outbox, feed, eventFeed, ...dispatching } = dispatcher(
    {
      ...platform,
      metrics: notificationMetrics(metrics, readBacklog, labelOf),
      destinations: known,
      disableAfterDays: config.disableAfterDays || null,
      onNews,
    },
    { logs: config.logLevel === "debug" || config.logLevel === "info" },
  );
  const managed = destinations({
    storage,
    clock,
    makeId,
    keys: () => keys,
    audit,
    privateAllowed,
    hashKeys,
    changed: (id) => dispatching.refresh(id),
    removing: (destinationId) => [
      write(deleteFailuresTo, { destinationId }),
      write(deleteDeliveriesTo, { destinationId }),
    ],
  });
  const alerting = alerts({
    storage,
    outbox,
    destinations: known,
    silentProviders: () => silentAmong(storage, registry, now()),
    clock,
    log,
  });
  const services = {
    notifications: notifications(storage),
    feed,
    destinations: managed,
    destinationDeliveries: destinationDeliveries({
      storage,
      clock,
      makeId,
      destinations: managed,
      cache: known,
      outbox,
      audit,
      tests,
      closeCircuit: (id) => dispatching.closeCircuit(id),
    }),
    withHealth: destinationHealth(storage, clock),
    readLatency: destinationLatency(storage, managed),
    previewFilter: filterPreview(storage, isOwnService),
    issues: issues({
      storage,
      destinations: known,
      statuses: () =>
        Promise.all(Array.from(registry, (one) => providerStatus(storage, one, now()))),
      clock,
      outbox,
      audit,
      closeCircuit: (id) => dispatching.closeCircuit(id),
    }),
  };
  // Before the first event: a notification is stored with its deliveries.
  await dispatching.refresh();

  return {
    services,
    outbox,
    destinationCache: known,
    eventFeed,
    stalled: () => dispatching.stalled(),
    /** Makes the destination of this server's settings. */
    async prepare() {
      await storeOperatorGateway(storage, config, keys, now());
      await resealDestinations(storage, keys);
      await dispatching.refresh();
    },
    async start() {
      await dispatching.start();
      alerting.start();
    },
    /** Ends the streams. */
    close() {
      feed.close();
      eventFeed.close();
    },
    async stop() {
      await Promise.all([dispatching.stop(), alerting.stop()]);
    },
  };
}
