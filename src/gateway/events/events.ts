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
import { eventPages, eventsByIds, receiptById, renormaliseEvent } from "./events.sql.ts";
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

import {
  type Event,
  type EventStatus,
  noReceipt,
  type Receipt,
  type StoredEvent,
} from "../event.ts";

/** An event with its receipt, body and notifications. */
export interface EventTimeline extends Event, BodyText {
  /** Null for events that Skyhook creates. */
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
  /** Sends no new notifications, only failed ones. For replaying a list whose entries may be delivered meanwhile. */
  readonly onlyUndelivered?: boolean;
}

/** For operators only. */
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
  /** The existing events of `ids`, in any order. */
  find(ctx: Context, ids: readonly string[]): Promise<Event[]>;
  /**
   * Normalises the stored body again with this version's rules and notifies again. Failed notifications are
   * sent again under their own ids, so that receivers can deduplicate. If none failed, sends new
   * notifications, unless `onlyUndelivered` is set. Throws `not-found`.
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

  async function storedReceipt(id: Event["id"]): Promise<StoredReceipt> {
    const [found] = await storage.all(receiptById, { id });
    return found ?? noReceipt;
  }

  async function timeline(id: string): Promise<EventTimeline> {
    const event = await find(id);
    const [stored, sent, attempts] = await Promise.all([
      storedReceipt(event.id),
      storage.all(notificationsOfEvent, { eventId: event.id }),
      storage.all(attemptsOfEvent, { eventId: event.id }),
    ]);
    const notifications = sent.map((notification) => ({
      ...notification,
      attempts: attempts.filter(({ notificationId }) => notificationId === notification.id),
    }));
    return { ...event, receipt: receiptOf(event, stored), ...bodyText(stored.body), notifications };
  }

  async function withSeverity({ data, ...rest }: Page<Event>): Promise<Page<ListedEvent>> {
    const eventIds = data.map(({ id }) => id);
    const notifications = Map.groupBy(
      await storage.all(notificationsOfEvents, { eventIds }),
      ({ eventId }) => eventId,
    );
    return {
      ...rest,
      data: data.map((event) => ({
        ...event,
        severity: highestSeverity(notifications.get(event.id) ?? []),
      })),
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
      const event = renormalised(stored, await storedReceipt(stored.id));
      const sent = await storage.all(notificationsOfEvent, { eventId: stored.id });
      // An event that was not accepted on receipt has no notifications to send again.
      const isRepeat = stored.status === "accepted" && (onlyUndelivered || sent.some(hasFailed));
      const notifying = isRepeat
        ? [outbox.rescheduleFor(event)]
        : outbox.writesFor(event, messagesFor(event));
      // Retention may have deleted the event since it was found.
      await storage.atomically(write(renormaliseEvent, event, notFound()), ...notifying);
      outbox.committed();
      return timeline(id);
    },
  };
}

/** The receipt of an event with its body. All null for events that Skyhook creates. */
type StoredReceipt = Pick<
  StoredEvent,
  "address" | "headers" | "signedWith" | "bodyBytes" | "duplicates" | "body"
>;

/** Whether an attempt failed, also before a reschedule. False during the first attempt. */
function hasFailed({ status, lastError }: Notification): boolean {
  return status !== "delivered" && lastError !== null;
}

function notFound(): AppError {
  return new AppError("not-found", "No event with this id exists, or it was deleted by retention.");
}

function isEventId(id: string): id is Event["id"] {
  return /^evt_[0-9a-f]{1,64}$/.test(id);
}

/** The event as this version normalises the stored body. Unchanged if the body was deleted. */
function renormalised(event: Event, { body, headers }: StoredReceipt): Event {
  const provider = providerById(event.provider);
  if (provider === undefined || body === null) return event;
  const normalised = interpret(provider, { bytes: body }, (name) => headers?.[name] ?? null);
  if (normalised === null) return event;
  const { deliveryId: _, occurredAt, ...fields } = normalised;
  return { ...event, ...fields, occurredAt: occurredAt ?? event.createdAt };
}

function receiptOf({ createdAt }: Event, stored: StoredReceipt): EventTimeline["receipt"] {
  const { address, headers, signedWith, bodyBytes, duplicates } = stored;
  if (address === null || headers === null || signedWith === null) return null;
  return { receivedAt: createdAt, address, headers, signedWith, bodyBytes, duplicates };
}
