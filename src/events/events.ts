import { type Context, requireOperator } from "../base/context.ts";
import { AppError } from "../base/errors.ts";
import { isId, placeIn, positionIn } from "../base/ids.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { paginate } from "../db/paginate.ts";
import { write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import { bodyText } from "../event/body-text.ts";
import { eventById } from "../event/event.sql.ts";
import type { Event, StoredReceipt } from "../event/event.ts";
import {
  bodySizeById,
  eventsAt,
  itemsBeside,
  receiptWithoutBodyAt,
  reinterpretEvent,
} from "../event/events.sql.ts";
import { highestSeverity } from "../event/new-notification.ts";
import { storedReceipt } from "../event/receipts.ts";
import type { Audit } from "../identity/audit/audit.ts";
import type { Reveals } from "../identity/audit/reveals.ts";
import type { CheckProvider } from "../inbound/providers/provider-filter.ts";
import type {
  CachedDestination,
  DestinationCache,
} from "../outbound/deliveries/destination-cache.ts";
import type { Outbox } from "../outbound/deliveries/outbox.ts";
import { attemptsBy, attemptsOfEvent } from "../outbound/model/attempts.sql.ts";
import { deliveriesOfEvent } from "../outbound/model/deliveries.sql.ts";
import type { OutgoingDelivery } from "../outbound/model/delivery.ts";
import { destinationNamed } from "../outbound/model/destination-named.ts";
import type { Notification } from "../outbound/model/notification.ts";
import { notificationsOfEvents } from "../outbound/model/notifications.sql.ts";

import type { EventFilters } from "./event-filters.ts";
import { deliveryStateOf } from "./event-index.ts";
import type { EventReplay } from "./event-replay.ts";
import { eventsMatching, needsIndex } from "./event-search.ts";
import type { EventTimeline, ListedEvent, NotificationDelivery } from "./event.schema.ts";
import type { SearchIndex } from "./search-index.ts";

/** What a list can add to its events. */
interface ListExtras {
  readonly severity?: boolean;
  readonly delivery?: boolean;
}

export interface ReplayOptions {
  /** Sends no new notifications, only failed ones. For replaying a list whose entries may be delivered meanwhile. */
  readonly onlyUndelivered?: boolean;
}

/** For operators only. */
export interface Events {
  /** Newest first. Throws `invalid-parameter` for an unknown provider. */
  list(
    ctx: Context,
    request: PageRequest,
    filters: EventFilters,
    extras?: ListExtras,
  ): Promise<Page<ListedEvent>>;
  /** The size of its body when it was received; 0 if there is no such event. */
  bodyBytes(ctx: Context, id: string): Promise<number>;
  /** Records who read the body. Throws `not-found`. */
  read(ctx: Context, id: string): Promise<EventTimeline>;
  /** Like `read`, without the body, so that nobody has read it. */
  history(ctx: Context, id: string): Promise<EventTimeline>;
  /** The existing events of `ids`, in any order. */
  find(ctx: Context, ids: readonly string[]): Promise<Event[]>;
  /**
   * Interprets the stored body again with this version's rules and notifies again. Failed notifications are
   * sent again under their own ids, so that receivers can deduplicate. If none failed, sends new
   * notifications; with `onlyUndelivered` only if it has none. Never repeats the event's effect. Throws `not-found`.
   */
  replay(ctx: Context, id: string, options?: ReplayOptions): Promise<Event>;
}

export function events(
  storage: Storage,
  index: Pick<SearchIndex, "caughtUp">,
  outbox: Pick<Outbox, "committed">,
  replaying: EventReplay,
  destinations: Pick<DestinationCache, "list">,
  audit: Audit,
  reveals: Reveals,
  checkProvider: CheckProvider,
): Events {
  async function find(id: string): Promise<Event> {
    const [event] = isId("evt", id) ? await storage.all(eventById, { id }) : [];
    if (event === undefined) throw notFound();
    return event;
  }

  /** The events of the items before and after this one. */
  async function neighbours(
    { id }: Event,
    { item, bodyOf }: StoredReceipt,
  ): Promise<Pick<EventTimeline, "previousItem" | "nextItem">> {
    if (item === null) return { previousItem: null, nextItem: null };
    const beside = { holder: bodyOf ?? positionIn(id), before: item - 1, after: item + 1 };
    const found = await storage.all(itemsBeside, beside);
    const at = (number: number) => found.find((other) => other.item === number)?.id ?? null;
    return { previousItem: at(item - 1), nextItem: at(item + 1) };
  }

  async function timeline(
    id: string,
    receiptBy?: typeof receiptWithoutBodyAt,
  ): Promise<EventTimeline> {
    const event = await find(id);
    const position = positionIn(event.id);
    const [stored, sent, attempts, deliveries] = await Promise.all([
      storedReceipt(storage, position, receiptBy),
      storage.all(notificationsOfEvents, { events: [position] }),
      attemptsBy(storage, attemptsOfEvent, { event: position }),
      storage.all(deliveriesOfEvent, { event: position }),
    ]);
    const notifications = sent.map((notification) => ({
      ...notification,
      attempts: attempts.filter(({ notificationId }) => notificationId === notification.id),
      deliveries: destinations.list().flatMap((cached) => {
        const { id: destinationId } = cached.destination;
        const delivery = deliveries.find(
          (each) => each.notificationId === notification.id && each.destinationId === destinationId,
        );
        return deliveryTo(cached, event, notification, delivery);
      }),
    }));
    const receipt = receiptOf(event, stored);
    const { effect, body } = stored;
    const delivery = deliveryStateOf(notifications);
    return {
      ...event,
      receipt,
      ...(await neighbours(event, stored)),
      effect,
      ...bodyText(body),
      notifications,
      delivery,
    };
  }

  async function withExtras(
    { data, ...rest }: Page<Event>,
    { severity = false, delivery = false }: ListExtras,
  ): Promise<Page<ListedEvent>> {
    const positions = data.map(({ id }) => positionIn(id));
    const byEvent = Map.groupBy(
      await storage.all(notificationsOfEvents, { events: positions }),
      ({ eventId }) => eventId,
    );
    return {
      ...rest,
      data: data.map((event) => {
        const notifications = byEvent.get(event.id) ?? [];
        return {
          ...event,
          ...(severity && { severity: highestSeverity(notifications) }),
          ...(delivery && { delivery: deliveryStateOf(notifications) }),
        };
      }),
    };
  }

  return {
    async list(ctx, request, filters, extras = {}) {
      requireOperator(ctx);
      await checkProvider(filters.provider);
      const destination = await destinationNamed(storage, filters.destination);
      if (needsIndex(filters)) await index.caughtUp();
      const page = await paginate(
        await eventsMatching(storage, { ...filters, destination }),
        request,
      );
      const isPlain = extras.severity !== true && extras.delivery !== true;
      return isPlain ? page : withExtras(page, extras);
    },
    async read(ctx, id) {
      requireOperator(ctx);
      const event = await timeline(id);
      if (event.body !== null) await reveals.record(ctx, "event.revealed", event.id);
      return event;
    },
    async history(ctx, id) {
      requireOperator(ctx);
      return timeline(id, receiptWithoutBodyAt);
    },
    async bodyBytes(ctx, id) {
      requireOperator(ctx);
      if (!isId("evt", id)) return 0;
      const [stored] = await storage.all(bodySizeById, { id });
      return stored?.bodyBytes ?? 0;
    },
    async find(ctx, ids) {
      requireOperator(ctx);
      const positions = ids.flatMap((id) => placeIn("evt", id)?.position ?? []);
      const found = await storage.all(eventsAt, { positions });
      return found.filter(({ id }) => ids.includes(id));
    },
    async replay(ctx, id, { onlyUndelivered = false } = {}) {
      requireOperator(ctx);
      const { event, notifying } = await replaying.prepare(await find(id), onlyUndelivered);
      // Retention may have deleted the event since it was found.
      await storage.atomically(
        write(reinterpretEvent, event, notFound()),
        ...notifying,
        audit.entry(ctx, "event.replayed", event.id),
      );
      outbox.committed(event);
      return find(id);
    },
  };
}

/** Nothing for users' destinations, and where the event was stored before the destination. */
function deliveryTo(
  { destination, filter }: CachedDestination,
  event: Event,
  { severity }: Notification,
  delivery: OutgoingDelivery | undefined,
): readonly NotificationDelivery[] {
  if (destination.ownerId !== null) return [];
  const name = { destinationId: destination.id, destination: destination.name };
  if (delivery !== undefined) {
    const { status, attemptCount, dueAt, deliveredAt, lastError } = delivery;
    return [{ ...name, status, attemptCount, dueAt, deliveredAt, lastError, filtered: null }];
  }
  const filtered = filter(event.provider)?.explain({ ...event, severity }) ?? null;
  if (filtered === null) return [];
  const never = { attemptCount: 0, dueAt: null, deliveredAt: null, lastError: null };
  return [{ ...name, ...never, status: "filtered", filtered }];
}

function notFound(): AppError {
  return new AppError("not-found", "No event with this id exists, or it was deleted by retention.");
}

export function receiptOf({ createdAt }: Event, stored: StoredReceipt): EventTimeline["receipt"] {
  const { address, headers, signedWith, bodyBytes, duplicates, item, items } = stored;
  if (address === null || headers === null) return null;
  return {
    receivedAt: createdAt,
    address,
    headers,
    signedWith,
    bodyBytes,
    duplicates,
    item,
    items,
  };
}
