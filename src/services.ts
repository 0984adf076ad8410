import { systemClock } from "./base/clock.ts";
import { AppError } from "./base/errors.ts";
import { makeId } from "./base/ids.ts";
import { lazy } from "./base/lazy.ts";
import { freeSeats } from "./booking/flights/free-seats.ts";
import { bookingsProvider } from "./booking/model/booking-words.ts";
import { deleteNoticesOf } from "./booking/payments/waiting-notices.sql.ts";
import { personalDataSeal, requestHashKeys } from "./booking/personal-data/personal-data.ts";
import type { BookingServices } from "./booking/room.rest.ts";
import type { Config } from "./config/config.ts";
import { configurePlaces } from "./config/places.ts";
import { providersFetch, registeredProviders } from "./config/providers.ts";
import type { SecretStore } from "./config/secrets.ts";
import { databaseFile } from "./db/open.ts";
import { write } from "./db/statement.ts";
import { diskTrouble } from "./db/storage-metrics.ts";
import type { Storage } from "./db/storage.ts";
import type { DescribedEvent } from "./events/described-event.ts";
import type { EventServices } from "./events/room.rest.ts";
import { providerFilter } from "./inbound/providers/provider-filter.ts";
import { registry } from "./inbound/providers/registry.ts";
import { keyStore } from "./inbound/signatures/key-store.ts";
import { skyhookProvider } from "./operations/alerts.ts";
import { heartbeat } from "./operations/heartbeat.ts";
import { type Persons, persons } from "./persons/persons.ts";
import type { ProgramLog } from "./telemetry/log.ts";
import { type HttpMetrics, httpMetrics } from "./web/rest/http-metrics.ts";
import { bookingServices } from "./wiring/booking.ts";
import { eventCatalogue } from "./wiring/event-catalogue.ts";
import { eventServices } from "./wiring/events.ts";
import { type IdentityServices, identityServices } from "./wiring/identity.ts";
import { type NotificationServices, notificationServices } from "./wiring/notifications.ts";
import { openPlatform, type Platform, type Surroundings } from "./wiring/platform.ts";
import { type WebhookServices, webhookServices } from "./wiring/webhooks.ts";

/** The services that routes, resolvers and commands call. */
export interface Services
  extends
    Pick<Platform, "config" | "clock" | "makeId" | "log" | "metrics" | "tracer" | "storage">,
    IdentityServices,
    WebhookServices,
    EventServices,
    NotificationServices,
    BookingServices {
  readonly requests: HttpMetrics;
  readonly persons: Persons;
  /** The types of event that destinations receive from the registered providers and from this service. */
  readonly eventCatalogue: () => readonly DescribedEvent[];
  /** Why the service is not ready for traffic, or null if it is. */
  unready(): Promise<AppError | null>;
  /**
   * Makes the destination of this server's settings. A server calls it before it accepts requests; `start` does
   * otherwise. Commands do not: their settings may be others.
   */
  prepare(): Promise<void>;
  /** Starts delivering notifications and background work. */
  start(): Promise<void>;
  /** Makes the service unready, so that load balancers send no new requests. */
  drain(): void;
  /** Waits for running deliveries, writes what is in memory, closes the database. */
  stop(): Promise<void>;
}

type State = "starting" | "serving" | "draining";

/** Opens the database and wires all services, room by room. The only function that knows all rooms. */
export async function createServices(
  config: Config,
  secrets: SecretStore,
  log: ProgramLog,
  surroundings: Surroundings = { clock: systemClock, makeId, random: Math.random },
): Promise<Services> {
  configurePlaces(config);
  const fetchUrl = providersFetch(config);
  // Before the database is opened: with an invalid provider file or secret, nothing is migrated.
  const providers = registry({
    providers: () => registeredProviders(config),
    secretsOf: (id) => secrets.webhookSecrets(id),
    keys: keyStore(surroundings.clock, fetchUrl),
  });
  const opened = await openPlatform(config, secrets, log, surroundings);
  const { platform } = opened;
  const { storage, clock } = platform;
  const hashKeys = lazy(() => requestHashKeys(platform.keys));
  const identity = identityServices(platform);
  const { audit, limiter, tests } = identity;
  const checkProvider = providerFilter(storage, providers, [bookingsProvider, skyhookProvider]);
  const sales = freeSeats(storage, clock, log);
  const notifying = await notificationServices(platform, {
    registry: providers,
    audit,
    tests,
    hashKeys,
    // Other instances notify operators when they sell or release seats.
    onNews: () => sales.refresh(),
  });
  const { outbox, destinationCache, eventFeed } = notifying;
  const booking = bookingServices(platform, { seats: sales, outbox, audit, hashKeys });
  const { effectOf } = booking;
  const webhooks = webhookServices(platform, {
    registry: providers,
    fetchUrl,
    secrets,
    limiter,
    tests,
    audit,
    outbox,
    effectOf,
    checkProvider,
  });
  const stored = eventServices(platform, {
    registry: providers,
    audit,
    outbox,
    eventFeed,
    destinationCache,
    checkProvider,
    alsoDelete: (events) => [write(deleteNoticesOf, events)],
  });

  const erasing = persons({
    storage,
    seal: personalDataSeal(platform.keys),
    ended: identity.ended,
    audit,
    clock,
    makeId: platform.makeId,
  });

  let state: State = "starting";
  let isPrepared = false;
  const unready = () => whyUnready(state, storage);
  const beating =
    config.heartbeatUrl === null
      ? []
      : [
          heartbeat(config.heartbeatUrl, platform, [
            async () => (await unready())?.detail ?? null,
            () => notifying.stalled(),
            async () => stored.lateRetention(),
            () => diskTrouble(databaseFile(config.databaseUrl)),
          ]),
        ];

  async function prepare(): Promise<void> {
    if (isPrepared) return;
    isPrepared = true;
    await notifying.prepare();
  }

  return {
    config,
    clock,
    makeId: platform.makeId,
    log,
    metrics: platform.metrics,
    tracer: platform.tracer,
    storage,
    ...identity,
    ...webhooks.services,
    ...stored.services,
    ...notifying.services,
    ...booking.services,
    requests: httpMetrics(platform.metrics),
    persons: erasing,
    eventCatalogue: () => eventCatalogue(Array.from(providers, ({ provider }) => provider)),
    unready,
    prepare,
    async start() {
      await prepare();
      await notifying.start();
      opened.start();
      booking.start();
      webhooks.start();
      await stored.start();
      for (const each of beating) each.start();
      state = "serving";
    },
    drain() {
      state = "draining";
      notifying.close();
      booking.close();
    },
    async stop() {
      const parts = [...beating, webhooks, stored, notifying, booking];
      await Promise.all(parts.map((each) => each.stop()));
      // After the last delivery.
      await webhooks.flush();
      await opened.stop();
    },
  };
}

async function whyUnready(state: State, storage: Storage): Promise<AppError | null> {
  const because = (detail: string, cause?: unknown) =>
    new AppError("unavailable", detail, { retryAfterSeconds: 5, cause });
  if (state !== "serving") return because(`The service is ${state}`);
  try {
    // An empty transaction succeeds exactly when others would.
    await storage.atomically();
    return null;
  } catch (error) {
    const cause = error instanceof AppError ? (error.extras.cause ?? error) : error;
    return because("The database cannot be written", cause);
  }
}
