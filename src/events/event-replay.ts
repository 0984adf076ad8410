import { positionIn } from "../base/ids.ts";
import type { Write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import type { Event, StoredReceipt } from "../event/event.ts";
import type { NewNotification } from "../event/new-notification.ts";
import { storedReceipt } from "../event/receipts.ts";
import { interpretedFields, interpretStored } from "../inbound/providers/interpret.ts";
import { isEcho } from "../inbound/providers/own-service.ts";
import type { Notice, Provider } from "../inbound/providers/provider.ts";
import type { Outbox, WriteOptions } from "../outbound/deliveries/outbox.ts";
import { undeliveredStatuses } from "../outbound/model/notification-words.ts";
import type { Notification } from "../outbound/model/notification.ts";
import { notificationsOfEvents } from "../outbound/model/notifications.sql.ts";

import type { FieldChange } from "./replay.schema.ts";
import type { ReplayFilters } from "./replay.ts";

/** What the replay of an event will do. */
interface PreparedReplay {
  /** The event as this version interprets the stored body. Unchanged if the body was deleted. */
  readonly event: Event;
  /** For the transaction that stores `event`. */
  readonly notifying: readonly Write<unknown>[];
  readonly outcome: "resent" | "notified" | "silent";
  /** Whether operators have received what it notifies them of again. */
  readonly isRepeated: boolean;
}

export interface EventReplay {
  /** Reads what is needed, and changes nothing. */
  prepare(stored: Event, onlyUndelivered: boolean): Promise<PreparedReplay>;
}

export function eventReplay(
  storage: Storage,
  outbox: Outbox,
  notificationsFor: (event: Event, notice: Notice | null) => readonly NewNotification[],
  providerOf: (id: string) => Provider | undefined,
): EventReplay {
  async function again(stored: Event): Promise<Again & Pick<WriteOptions, "whole">> {
    const receipt = await storedReceipt(storage, positionIn(stored.id));
    const interpreted = interpretedAgain(providerOf(stored.provider), stored, receipt);
    const isOwn = await isEcho(storage, (name) => receipt.headers?.[name]);
    const event = isOwn ? { ...interpreted.event, status: "ignored" as const } : interpreted.event;
    return { ...interpreted, event, whole: receipt.body === null ? undefined : new Set() };
  }

  return {
    async prepare(stored, onlyUndelivered) {
      const { event, notice, whole } = await again(stored);
      const sent = await storage.all(notificationsOfEvents, { events: [positionIn(stored.id)] });
      // An event that was not accepted on receipt has no notifications to send again; one that is not now gets none.
      const isAccepted = stored.status === "accepted" && event.status === "accepted";
      const isRepeat = isAccepted && (sent.some(hasFailed) || (onlyUndelivered && sent.length > 0));
      if (isRepeat) {
        const notifying = await outbox.rescheduleFor(event, "undelivered");
        const outcome = sent.some(isUndelivered) ? "resent" : "silent";
        return { event, notifying, outcome, isRepeated: false };
      }
      // Without its body, the event says again what it said last.
      const notifications = notificationsFor(event, notice ?? sent.at(-1) ?? null);
      const outcome = notifications.length === 0 ? "silent" : "notified";
      const isRepeated =
        outcome === "notified" && sent.some(({ status }) => status === "delivered");
      const notifying = outbox.writesFor({ ...event, place: positionIn(event.id) }, notifications, {
        whole,
      });
      return { event, notifying, outcome, isRepeated };
    },
  };
}

/** Whether a replay with these filters sends only what was not delivered. */
export function isForUndelivered({ onlyUndelivered, delivery }: ReplayFilters): boolean {
  return onlyUndelivered === true || undeliveredStatuses.some((each) => each === delivery);
}

function isUndelivered({ status }: Notification): boolean {
  return undeliveredStatuses.some((each) => each === status);
}

/** Whether an attempt failed, also before a reschedule. False during the first attempt. */
function hasFailed({ status, lastError }: Notification): boolean {
  return status !== "delivered" && lastError !== null;
}

interface Again {
  readonly event: Event;
  readonly notice: Notice | null;
}

function interpretedAgain(
  provider: Provider | undefined,
  event: Event,
  receipt: StoredReceipt,
): Again {
  // A payment has its effect only once.
  const interpreted = provider === undefined ? null : interpretStored(provider, receipt);
  if (interpreted === null) return { event, notice: null };
  const { notice = null } = interpreted;
  return { event: { ...event, ...interpretedFields(interpreted, event) }, notice };
}

const comparedFields = [
  "type",
  "status",
  "occurredAt",
  "subject",
  "title",
  "url",
  "actor",
] as const satisfies readonly (keyof Event)[];

/** The fields in which two forms of an event differ. */
export function changesBetween(stored: Event, now: Event): readonly FieldChange[] {
  const changes = comparedFields.flatMap((field) => changeOf(field, stored[field], now[field]));
  const names = new Set([...Object.keys(stored.data), ...Object.keys(now.data)]);
  for (const name of [...names].toSorted()) {
    changes.push(...changeOf(`data.${name}`, stored.data[name], now.data[name]));
  }
  return changes;
}

function changeOf(field: string, stored: unknown, now: unknown): readonly FieldChange[] {
  const [before, after] = [shown(stored), shown(now)];
  return before === after ? [] : [{ field, stored: before, now: after }];
}

function shown(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  return typeof value === "string" ? value : JSON.stringify(value);
}
