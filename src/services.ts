import { type Tokens, tokens } from "./auth/token.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { Config } from "./config.ts";
import { type Events, events } from "./events/events.ts";
import { type MakeId, makeId } from "./ids.ts";
import type { Log } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { type Feed, feed, logFeed } from "./notifications/channels/feed.ts";
import { gateway } from "./notifications/channels/gateway.ts";
import { type Notifications, notifications } from "./notifications/notifications.ts";
import { type Notifier, notifier } from "./notifications/notifier.ts";
import { outbox } from "./notifications/outbox.ts";
import { type SecretStore, tokenKey } from "./secrets.ts";
import { newestSeq, undelivered } from "./storage/notifications.ts";
import { openStorage, type Storage } from "./storage/storage.ts";
import { failureLimiter } from "./webhooks/limiter.ts";
import { type Acknowledgement, type Incoming, receiver } from "./webhooks/receive.ts";
import { type Rejections, rejections } from "./webhooks/rejections.ts";
import { registry } from "./webhooks/registry.ts";

/** Everything that the doors call, wired. */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly storage: Storage;
  readonly tokens: Tokens;
  readonly receive: (incoming: Incoming) => Promise<Acknowledgement>;
  readonly rejections: Rejections;
  readonly events: Events;
  readonly notifications: Notifications;
  readonly feed: Feed;
  /** Why the service cannot take traffic now; null when it can. */
  unready(): Promise<string | null>;
  /** Begins to deliver notifications. */
  start(): Promise<void>;
  /** From now on not ready: load balancers send nobody new. */
  drain(): void;
  /** Ends the feed, waits for deliveries under way, commits what waits, closes the database. */
  stop(): Promise<void>;
}

/** Sources of what a program cannot foresee; tests bring their own. */
export interface Surroundings {
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** In [0, 1). */
  readonly random: () => number;
}

/** How long a stop waits for deliveries to the operator gateway; what is cut off is sent again. */
const deliveryPatienceMs = 4_000;

/** Wires all services by hand: the only place that knows them all. */
export function createServices(
  config: Config,
  secrets: SecretStore,
  log: Log,
  { clock, makeId: newId, random }: Surroundings = {
    clock: systemClock,
    makeId,
    random: Math.random,
  },
): Services {
  const providers = registry(config.providers, secrets);
  const key = tokenKey(config.jwtSecret, config.dataDir);
  const storage = openStorage(config.databaseUrl);
  const metrics = createMetrics(
    () => storage.all(undelivered, {}),
    () => clock.now(),
  );
  const following = feed(storage, clock, (count) => metrics.subscribers(count));
  const delivering = gatewayNotifier();
  const box = outbox({ hasGateway: delivering !== null, wake }, newId, () => clock.now());
  const refused = rejections({ storage, registry: providers, log, clock, makeId: newId });
  let state: "starting" | "serving" | "draining" = "starting";

  function gatewayNotifier(): Notifier | null {
    const { operatorGatewayUrl: url, operatorGatewaySecret: secret } = config;
    if (url === null || secret === null) return null;
    return notifier({ storage, gateway: gateway(url, secret, clock), clock, log, metrics, random });
  }

  function wake(): void {
    following.wake();
    delivering?.wake();
  }

  async function unready(): Promise<string | null> {
    if (state !== "serving") return `The service is ${state}`;
    try {
      await storage.all(newestSeq, {});
      return null;
    } catch {
      return "The database cannot be read";
    }
  }

  return {
    config,
    clock,
    makeId: newId,
    log,
    metrics,
    storage,
    tokens: tokens({ key, issuer: config.jwtIssuer, audience: config.jwtAudience }, clock),
    receive: receiver({
      storage,
      registry: providers,
      limiter: failureLimiter(clock),
      outbox: box,
      rejections: refused,
      metrics,
      log,
      clock,
      makeId: newId,
    }),
    rejections: refused,
    events: events(storage, box),
    notifications: notifications(storage),
    feed: following,
    unready,
    async start() {
      await delivering?.start();
      if (config.logLevel === "debug" || config.logLevel === "info") void logFeed(following, log);
      state = "serving";
    },
    drain() {
      state = "draining";
      following.close();
    },
    async stop() {
      await delivering?.stop(deliveryPatienceMs);
      await storage.close();
    },
  };
}
