import { type BackgroundTask, backgroundTask } from "../base/background-task.ts";
import type { Clock } from "../base/clock.ts";
import { programName } from "../base/program-name.ts";
import { Place } from "../db/place.ts";
import { write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import type { DataFields } from "../event/data-fields.ts";
import { emptyEvent, emptyFields, type StoredEvent } from "../event/event.ts";
import { insertEvent } from "../event/events.sql.ts";
import type { NewNotification } from "../event/new-notification.ts";
import {
  type DescribedEvent,
  exampleNotification,
  exampleTimes,
} from "../events/described-event.ts";
import { rejectionsSince } from "../inbound/rejections/rejections.sql.ts";
import type { DestinationCache } from "../outbound/deliveries/destination-cache.ts";
import type { Outbox } from "../outbound/deliveries/outbox.ts";
import { deadCounts } from "../outbound/model/deliveries.sql.ts";
import { type Destination, nameInLogs } from "../outbound/model/destination.ts";
import type { Log } from "../telemetry/log.ts";
import { count } from "../web/schema.ts";

/**
 * Notifies operators of what is wrong with Skyhook itself, through the destinations that receive alerts: dead
 * letters, open circuits, destinations that were disabled, silent providers, many rejected requests. A storm is one
 * message with a count.
 */
export type Alerts = Pick<BackgroundTask, "start" | "stop">;

interface Parts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly destinations: DestinationCache;
  /** The providers that are silent now. */
  readonly silentProviders: () => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The provider of events about Skyhook itself. */
export const skyhookProvider = "skyhook";

const intervalMs = 60_000;
/** This many rejected requests of a provider within five minutes are an alert. */
const rejectionThreshold = 20;
const rejectionWindowMs = 5 * 60_000;

/** What is wrong, by a key that stays the same while it lasts, with a summary for operators. */
type Troubles = ReadonlyMap<string, Trouble>;
interface Trouble {
  readonly kind:
    "dead_letters" | "circuit_open" | "destination_gone" | "provider_silent" | "rejections";
  readonly summary: string;
  /** Grows while it gets worse; an alert is sent again then. */
  readonly count: number;
  /** The destination that is in trouble itself, and gets no alert about it. */
  readonly destinationId: string | null;
}

const titles: Readonly<Record<Trouble["kind"], string>> = {
  dead_letters: "Notifications are dead-lettered",
  circuit_open: "Destinations fail",
  destination_gone: "Destinations were disabled",
  provider_silent: "Providers are silent",
  rejections: "Many deliveries are rejected",
};

export const alertData = {
  count: count("How many destinations or providers it is about.", 1),
} as const satisfies DataFields;

/** The types of alert, with an example each. */
export function alertEvents(): readonly DescribedEvent[] {
  return Object.entries(titles).map(([kind, title]) => {
    const event = {
      ...emptyFields,
      ...exampleTimes,
      provider: skyhookProvider,
      type: `alert.${kind}`,
      status: "accepted",
      idempotencyKey: `${skyhookProvider}:alert.${kind}:29762712`,
      title: `${title}: deploys`,
      data: { count: 1 },
    } as const;
    const notification = exampleNotification(alertNotification(event));
    return { from: "Skyhook", data: alertData, event, notification };
  });
}

export function alerts(parts: Parts): Alerts {
  const { clock, log, destinations } = parts;
  let known: Troubles | null = null;

  async function sweep(): Promise<number> {
    try {
      // Without a destination for alerts, nothing is read.
      const isWanted = destinations.list().some(({ destination }) => destination.alerts);
      const now = isWanted ? await troublesOf(parts) : new Map<string, Trouble>();
      // What was wrong before the start was announced then.
      const news =
        known === null
          ? []
          : [...now].filter(([key, { count }]) => count > (known?.get(key)?.count ?? 0));
      known = now;
      for (const kind of new Set(news.map(([, trouble]) => trouble.kind))) {
        const ofKind = news.filter(([, trouble]) => trouble.kind === kind);
        await announce(parts, [kind, ofKind]);
      }
    } catch (error) {
      log.error({ err: error }, "failed to look for alerts; retrying");
    }
    return intervalMs;
  }

  return backgroundTask(clock, sweep);
}

async function troublesOf({
  storage,
  destinations,
  silentProviders,
  clock,
}: Parts): Promise<Troubles> {
  const since = new Date(clock.now() - rejectionWindowMs);
  const [dead, rejected, silent] = await Promise.all([
    storage.all(deadCounts, {}, "long"),
    storage.all(rejectionsSince, { since }),
    silentProviders(),
  ]);
  const nameOf = (id: Destination["id"]) => {
    const cached = destinations.find(id);
    return cached === undefined ? id : nameInLogs(cached.destination);
  };
  const disabled = destinations.list().flatMap(({ destination: { id, state, disabledReason } }) => {
    return state === "disabled" && disabledReason !== null ? [{ id, disabledReason }] : [];
  });
  const open = destinations.list().filter(({ destination }) => destination.openUntil !== null);
  return new Map<string, Trouble>([
    ...dead.map(({ destinationId, count }): [string, Trouble] => [
      `dead_letters:${destinationId}`,
      {
        kind: "dead_letters",
        summary: `${nameOf(destinationId)}: ${count} dead`,
        count,
        destinationId,
      },
    ]),
    ...open.map(({ destination: { id, failures } }): [string, Trouble] => [
      `circuit_open:${id}`,
      {
        kind: "circuit_open",
        summary: `${nameOf(id)}: ${failures} failures in a row`,
        count: 1,
        destinationId: id,
      },
    ]),
    ...disabled.map(({ id, disabledReason }): [string, Trouble] => [
      `destination_gone:${id}`,
      {
        kind: "destination_gone",
        summary: `${nameOf(id)}: ${disabledReason}`,
        count: 1,
        destinationId: id,
      },
    ]),
    ...silent.map((provider): [string, Trouble] => [
      `provider_silent:${provider}`,
      { kind: "provider_silent", summary: provider, count: 1, destinationId: null },
    ]),
    ...rejected
      .filter(({ count }) => count >= rejectionThreshold)
      .map(({ provider, count }): [string, Trouble] => [
        `rejections:${provider}`,
        {
          kind: "rejections",
          summary: `${provider}: ${count} within five minutes`,
          count: 1,
          destinationId: null,
        },
      ]),
  ]);
}

/** Stores one event for all news of a kind. Several processes that find the same store it once. */
async function announce(
  { storage, outbox, clock }: Parts,
  [kind, news]: readonly [Trouble["kind"], readonly (readonly [string, Trouble])[]],
): Promise<void> {
  const nowMs = clock.now();
  const now = new Date(nowMs);
  const summaries = news.map(([, { summary }]) => summary).toSorted();
  const event: StoredEvent = {
    ...emptyEvent,
    place: new Place(nowMs),
    provider: skyhookProvider,
    type: `alert.${kind}`,
    status: "accepted",
    idempotencyKey: `${skyhookProvider}:alert.${kind}:${Math.floor(nowMs / intervalMs)}`,
    occurredAt: now,
    createdAt: now,
    title: `${titles[kind]}: ${summaries.join("; ")}`.slice(0, 500),
    data: { count: news.length },
  };
  const inTrouble = new Set(news.map(([, { destinationId }]) => destinationId));
  const writes = outbox.writesFor(event, [alertNotification(event)], {
    alert: true,
    isExcluded: (id) => inTrouble.has(id),
  });
  const [stored] = await storage.atomically(write(insertEvent, event, "stop"), ...writes);
  if (stored.changes > 0) outbox.committed(event);
}

/** The notification about an alert. */
export function alertNotification({
  title,
  type,
}: Pick<StoredEvent, "title" | "type">): NewNotification {
  const text = `Run \`${programName} doctor\`, or open the console. (${type})`;
  return { title, text, url: null, severity: "error" };
}
