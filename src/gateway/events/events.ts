import { type Context, requireOperator } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import {
  type Attempt,
  highestSeverity,
  type Message,
  type Notification,
  type Severity,
} from "../notification.ts";
import type { Outbox } from "../notifications/outbox.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import { eventById } from "../event.sql.ts";
import { arrivalOf, eventPages, eventsByIds, renormaliseEvent } from "./events.sql.ts";
import {
  attemptsOfEvent,
  notificationsOfEvent,
  notificationsOfEvents,
} from "../notifications/notifications.sql.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { type BodyText, bodyText } from "../body-text.ts";
import { interpret } from "../providers/interpret.ts";
import { providerById } from "../providers/catalogue.ts";

import type { Event, EventStatus, Receipt, StoredEvent } from "../event.ts";

/** An event with all that happened to it. */
export interface EventTimeline extends Event, BodyText {
  /** Null for events of our own. */
  readonly receipt: (Receipt & { readonly receivedAt: Date }) | null;
  readonly notifications: readonly NotificationWithAttempts[];
}

export interface NotificationWithAttempts extends Notification {
  readonly attempts: readonly Attempt[];
}

/** An event in a list. */
export interface ListedEvent extends Event {
  /** The highest severity of its notifications, null if it has none. Present only if requested. */
  readonly severity?: Severity | null;
}

export interface EventFilters {
  readonly provider: string | undefined;
  readonly type: string | undefined;
  readonly status: EventStatus | undefined;
}

export interface ReplayOptions {
  /** For those who go through a list: what is delivered by the time it is its turn is not told anew. */
  readonly onlyUndelivered?: boolean;
}

/** All of it is for operators only. */
export interface Events {
  /** Newest first. */
  list(
    ctx: Context,
    request: PageRequest,
    filters: EventFilters,
    extras?: { readonly severity: boolean },
  ): Promise<Page<ListedEvent>>;
  /** Throws `not-found`. */
  read(ctx: Context, id: string): Promise<EventTimeline>;
  /** Those of `ids` that there are, in any order. */
  find(ctx: Context, ids: readonly string[]): Promise<Event[]>;
  /**
   * Reads the stored bytes anew by this version's rules and notifies again: what has failed goes out under
   * its own id, so that nobody is told twice; where nothing has, it is all told anew, unless
   * `onlyUndelivered` says not to. Throws `not-found`.
   */
  replay(ctx: Context, id: string, options?: ReplayOptions): Promise<EventTimeline>;
}

export function events(
  storage: Storage,
  outbox: Outbox,
  messagesFor: (event: Event) => readonly Message[],
): Events {
  async function find(id: string): Promise<Event> {
    const [event] = isEventId(id) ? await storage.all(eventById, { id }) : [];
    if (event === undefined) throw notFound();
    return event;
  }

  async function arrival(id: Event["id"]): Promise<Arrival> {
    const [found] = await storage.all(arrivalOf, { id });
    return found ?? nowhere;
  }

  async function timeline(id: string): Promise<EventTimeline> {
    const event = await find(id);
    const [came, sent, attempts] = await Promise.all([
      arrival(event.id),
      storage.all(notificationsOfEvent, { eventId: event.id }),
      storage.all(attemptsOfEvent, { eventId: event.id }),
    ]);
    const notifications = sent.map((notification) => ({
      ...notification,
      attempts: attempts.filter(({ notificationId }) => notificationId === notification.id),
    }));
    return { ...event, receipt: receiptOf(event, came), ...bodyText(came.body), notifications };
  }

  async function withSeverity({ data, ...rest }: Page<Event>): Promise<Page<ListedEvent>> {
    const eventIds = data.map(({ id }) => id);
    const told = Map.groupBy(
      await storage.all(notificationsOfEvents, { eventIds }),
      ({ eventId }) => eventId,
    );
    return {
      ...rest,
      data: data.map((it) => ({ ...it, severity: highestSeverity(told.get(it.id) ?? []) })),
    };
  }

  return {
    async list(ctx, request, filters, extras) {
      requireOperator(ctx);
      const page = await paginate(eventPages(storage, filters), request);
      return extras?.severity === true ? withSeverity(page) : page;
    },
    async read(ctx, id) {
      requireOperator(ctx);
      return timeline(id);
    },
    async find(ctx, ids) {
      requireOperator(ctx);
      return storage.all(eventsByIds, { ids: ids.filter(isEventId) });
    },
    async replay(ctx, id, { onlyUndelivered = false } = {}) {
      requireOperator(ctx);
      const stored = await find(id);
      const event = readAnew(stored, await arrival(stored.id));
      const sent = await storage.all(notificationsOfEvent, { eventId: stored.id });
      // Of an event that was not accepted when it came, nothing was sent yet.
      const isRepeat = stored.status === "accepted" && (onlyUndelivered || sent.some(hasFailed));
      const telling = isRepeat
        ? [outbox.againFor(event)]
        : outbox.stepsFor(event, messagesFor(event));
      // It may be past its time, and deleted since it was found.
      await storage.atomically(write(renormaliseEvent, event, notFound()), ...telling);
      outbox.committed();
      return timeline(id);
    },
  };
}

type Arrival = Pick<
  StoredEvent,
  "address" | "headers" | "signedWith" | "bodyBytes" | "duplicates" | "body"
>;
const nowhere: Arrival = {
  address: null,
  headers: null,
  signedWith: null,
  bodyBytes: 0,
  duplicates: 0,
  body: null,
};

/** So has one that was armed again. One whose first try is still to end has not. */
function hasFailed({ status, lastError }: Notification): boolean {
  return status !== "delivered" && lastError !== null;
}

function notFound(): AppError {
  return new AppError("not-found", "There is no event of this id");
}

function isEventId(id: string): id is Event["id"] {
  return /^evt_[0-9a-f]{1,64}$/.test(id);
}

/** The event as this version of its provider reads the stored bytes; unchanged where they are gone. */
function readAnew(event: Event, { body, headers }: Arrival): Event {
  const provider = providerById(event.provider);
  if (provider === undefined || body === null) return event;
  const normalised = interpret(provider, { bytes: body }, (name) => headers?.[name] ?? null);
  if (normalised === null) return event;
  const { deliveryId: _, occurredAt, ...fields } = normalised;
  return { ...event, ...fields, occurredAt: occurredAt ?? event.createdAt };
}

function receiptOf({ createdAt }: Event, arrival: Arrival): EventTimeline["receipt"] {
  const { address, headers, signedWith, bodyBytes, duplicates } = arrival;
  if (address === null || headers === null || signedWith === null) return null;
  return { receivedAt: createdAt, address, headers, signedWith, bodyBytes, duplicates };
}
