import { type Clients, clients } from "./identity/auth/clients.ts";
import { type ConsoleCodes, consoleCodes } from "./identity/auth/console-codes.ts";
import { jwksVerifier } from "./identity/auth/jwks.ts";
import { rememberedSessions } from "./identity/auth/remembered-sessions.ts";
import { type Tokens, tokens } from "./identity/auth/token.ts";
import type { Verify } from "./base/context.ts";
import { bookingMessage, bookingsProvider } from "./booking/bookings/booking-event.ts";
import { type Bookings, bookings } from "./booking/bookings/bookings.ts";
import { personalDataSeal, requestHashKeys } from "./booking/personal-data/personal-data.ts";
import { makeReference } from "./booking/bookings/reference.ts";
import { type Clock, systemClock } from "./base/clock.ts";
import type { Config } from "./config/config.ts";
import type { Event } from "./gateway/event.ts";
import { type Events, events } from "./gateway/events/events.ts";
import { type FlightLoads, flightLoads } from "./booking/flights/flight-load.ts";
import { type Flights, flights } from "./booking/flights/flights.ts";
import { type Seats, seats } from "./booking/flights/seats.ts";
import { type HttpMetrics, httpMetrics } from "./web/rest/http-metrics.ts";
import { type MakeId, makeId } from "./base/ids.ts";
import { lazy } from "./base/lazy.ts";
import { AppError } from "./base/errors.ts";
import type { Log, ProgramLog } from "./telemetry/log.ts";
import { dispatcher } from "./gateway/notifications/dispatcher.ts";
import type { Feed } from "./gateway/notifications/channels/feed.ts";
import type { Message } from "./gateway/notification.ts";
import { notificationMetrics } from "./gateway/notifications/notification-metrics.ts";
import { type Notifications, notifications } from "./gateway/notifications/notifications.ts";
import { pruner } from "./gateway/retention/pruner.ts";
import { type SecretStore, tokenKey } from "./config/secrets.ts";
import { latency } from "./gateway/statistics/latency.ts";
import { type Statistics, statistics } from "./gateway/statistics/statistics.ts";
import { tally } from "./gateway/statistics/tally.ts";
import { undelivered } from "./gateway/notifications/notifications.sql.ts";
import { databaseFile, openStorage } from "./db/open.ts";
import { schema } from "./schema/schema.ts";
import type { Storage } from "./db/storage.ts";
import { storageMetrics } from "./db/storage-metrics.ts";
import { logMetrics } from "./telemetry/log-metrics.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";
import { processMetrics } from "./telemetry/process-metrics.ts";
import type { Tracer } from "./telemetry/tracing/tracer.ts";
import { commitSpan, spanCounter, tracing } from "./telemetry/tracing/tracing.ts";
import { type Users, users } from "./identity/users/users.ts";
import { version } from "./base/version.ts";
import { messagesOf } from "./gateway/providers/interpret.ts";
import { type FailureLimiter, failureLimiter } from "./identity/limiter.ts";
import { type Providers, providerStatuses } from "./gateway/statistics/provider-status.ts";
import { providerById } from "./gateway/providers/catalogue.ts";
import type { Acknowledgement, Delivery } from "./gateway/delivery.ts";
import { receiver } from "./gateway/receive/receive.ts";
import { type Rejections, rejections } from "./gateway/diagnosis/rejections.ts";
import { registry } from "./gateway/providers/registry.ts";
import { webhookMetrics } from "./gateway/receive/webhook-metrics.ts";

/** The services that routes, resolvers and commands call. */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly requests: HttpMetrics;
  /** Null if traces are off. */
  readonly tracer: Tracer | null;
  readonly storage: Storage;
  readonly tokens: Tokens;
  /** Verifies Skyhook's tokens or, if configured, those of an identity provider. */
  readonly verify: Verify;
  readonly clients: Clients;
  readonly consoleCodes: ConsoleCodes;
  readonly limiter: FailureLimiter;
  readonly receive: (delivery: Delivery) => Promise<Acknowledgement>;
  readonly rejections: Rejections;
  readonly events: Events;
  readonly users: Users;
  readonly flights: Flights;
  readonly seats: Seats;
  readonly bookings: Bookings;
  readonly notifications: Notifications;
  readonly feed: Feed;
  readonly flightLoads: FlightLoads;
  readonly statistics: Statistics;
  readonly providers: Providers;
  /**
   * Reads all webhook secrets again and returns the providers whose secrets changed. Throws if one is empty
   * or missing; the previous secrets then stay in use.
   */
  reloadSecrets(): readonly string[];
  /** Why the service is not ready for traffic, or null if it is. */
  unready(): Promise<AppError | null>;
  /** Starts delivering notifications and background work. */
  start(): Promise<void>;
  /** Makes the service unready, so that load balancers send no new requests. */
  drain(): void;
  /** Waits for running deliveries, writes what is in memory, closes the database. */
  stop(): Promise<void>;
}

/** The sources of time, ids and randomness. Tests supply their own. */
export interface Surroundings {
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** In [0, 1). */
  readonly random: () => number;
}

/** How long a stop waits for the trace collector. Spans not exported by then are lost. */
const tracePatienceMs = 1_000;

/** Opens the database and wires all services. The only function that knows all of them. */
export async function createServices(
  config: Config,
  secrets: SecretStore,
  log: ProgramLog,
  { clock, makeId: newId, random }: Surroundings = {
    clock: systemClock,
    makeId,
    random: Math.random,
  },
): Promise<Services> {
  const providers = registry(config.providers, (id) => secrets.webhookSecrets(id));
  const key = tokenKey(config.jwtSecret, config.dataDir);
  const now = () => clock.now();
  const metrics = createMetrics();
  const ofProcess = processMetrics(metrics);
  const ofStorage = storageMetrics(metrics, databaseFile(config.databaseUrl));
  logMetrics(metrics, log.dropped);
  const tracer = await tracing(config, {
    log,
    now,
    count: spanCounter(metrics),
  });
  const storage = await openStorage(schema, config.databaseUrl, config.databaseLimits, {
    warning: (line) => log.warn(line),
    migrated: (migrations) => log.info({ steps: migrations }, "database migrated"),
    transactionWaits: () => (tracer === null ? null : commitSpan(tracer)),
    groupCommitted: (seconds, transactions) => ofStorage.committed(seconds, transactions),
  });
  const sales = seats(storage, clock, log);
  const { operatorGatewayUrl: gatewayUrl, operatorGatewaySecret: gatewayKey } = config;
  const { outbox, feed, ...dispatching } = dispatcher(
    {
      storage,
      clock,
      log,
      metrics: notificationMetrics(metrics, () => storage.all(undelivered, {}), now),
      tracer,
      random,
      makeId: newId,
      // Other instances notify operators when they sell or release seats.
      onNews: () => sales.refresh(),
    },
    {
      operatorGateway:
        gatewayUrl === null || gatewayKey === null ? null : { url: gatewayUrl, key: gatewayKey },
      logs: config.logLevel === "debug" || config.logLevel === "info",
    },
  );
  const rejectionService = rejections({ storage, registry: providers, log, clock, makeId: newId });
  const personalKeys = secrets.personalDataKeys(config.dataDir);
  const seal = personalDataSeal(personalKeys);
  const limiter = failureLimiter(clock);
  const tallied = tally(storage, clock, log);
  const acknowledged = latency(clock);
  const issuing = { key, issuer: config.jwtIssuer, audience: config.jwtAudience };
  const minting = tokens(issuing, clock);
  const verifying =
    config.jwksUrl === null
      ? (token: string) => minting.verify(token)
      : jwksVerifier(config.jwksUrl, issuing, clock);
  const pruning = pruner(
    storage,
    { eventDays: config.eventRetentionDays, bodyDays: config.bodyRetentionDays },
    clock,
    log,
  );
  let state: "starting" | "serving" | "draining" = "starting";

  /** The notifications for an event of a provider or of bookings. */
  function messagesFor(event: Event): readonly Message[] {
    if (event.provider === bookingsProvider) return [bookingMessage(event)];
    const provider = providerById(event.provider);
    return provider === undefined ? [] : messagesOf(provider, event);
  }

  async function unready(): Promise<AppError | null> {
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

  return {
    config,
    clock,
    makeId: newId,
    log,
    metrics,
    requests: httpMetrics(metrics),
    tracer,
    storage,
    tokens: minting,
    verify: rememberedSessions(verifying, clock),
    limiter,
    clients: clients(storage, minting, clock, newId),
    consoleCodes: consoleCodes(issuing, storage, minting, clock),
    receive: receiver({
      storage,
      registry: providers,
      limiter,
      outbox,
      rejections: rejectionService,
      metrics: webhookMetrics(metrics, config.providers),
      tally: tallied,
      latency: acknowledged,
      tracer,
      log,
      clock,
      makeId: newId,
    }),
    rejections: rejectionService,
    events: events(storage, outbox, messagesFor),
    users: users(storage, clock, config.usersAccess),
    flights: flights(storage, clock),
    seats: sales,
    bookings: bookings({
      storage,
      outbox,
      tracer,
      seal,
      hashKeys: lazy(() => requestHashKeys(personalKeys)),
      refundPolicy: {
        freeWithinHours: config.refundFreeWithinHours,
        freeBeforeDays: config.refundFreeBeforeDays,
        tiers: config.refundSteps,
      },
      clock,
      makeId: newId,
      makeReference,
      seatsChanged: (flightId) => sales.changed(flightId),
    }),
    notifications: notifications(storage),
    feed,
    flightLoads: flightLoads(storage),
    providers: providerStatuses(storage, providers, clock),
    reloadSecrets: () => providers.reload(),
    statistics: statistics({ storage, latency: acknowledged, clock, version }),
    unready,
    async start() {
      await dispatching.start();
      sales.start();
      ofProcess.start();
      pruning.start();
      state = "serving";
    },
    drain() {
      state = "draining";
      feed.close();
      sales.close();
    },
    async stop() {
      await Promise.all([dispatching.stop(), pruning.stop()]);
      await tallied.stop();
      await Promise.all([storage.close(), tracer?.stop(tracePatienceMs)]);
      ofProcess.stop();
    },
  };
}
