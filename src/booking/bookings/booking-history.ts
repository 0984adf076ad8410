import type { Event } from "../../gateway/event.ts";
import { moneyOf, moneyText } from "../../base/money.ts";
import type { Notification } from "../../gateway/notification.ts";
import { eventsByKeys } from "../../gateway/events/events.sql.ts";
import { notificationsOfEvents } from "../../gateway/notifications/notifications.sql.ts";
import type { Storage } from "../../db/storage.ts";

import { type BookingEventType, bookingEventKey, bookingEventTypes } from "./booking-event.ts";
import type { Booking } from "../booking.ts";
import type { Disclosure } from "../personal-data/disclosure.ts";
import { disclosuresOf } from "../personal-data/personal-data.sql.ts";

export const historyTypes = [
  "booking.confirmed",
  "booking.cancelled",
  "refund.pending",
  "passport.revealed",
] as const;

/** One entry in a booking's history. */
export interface HistoryEntry {
  readonly at: Date;
  readonly type: (typeof historyTypes)[number];
  readonly title: string;
  /** The id of the caller; null if no caller was involved or it is no longer known. */
  readonly actor: string | null;
  /** The entry's event; null if it has none, or retention has deleted it. */
  readonly eventId: Event["id"] | null;
  /** The notifications about that event. */
  readonly notifications: readonly Notification[];
}

/** The stored records that belong to a booking. */
interface BookingRecords {
  readonly events: readonly Event[];
  readonly notifications: readonly Notification[];
  readonly disclosures: readonly Disclosure[];
}

/** Returns a booking's history, oldest first. Entries remain after retention has deleted their events. */
export async function readHistory(
  storage: Storage,
  booking: Booking,
): Promise<readonly HistoryEntry[]> {
  const keys = bookingEventTypes.map((type) => bookingEventKey(type, booking.id));
  const [events, disclosures] = await Promise.all([
    storage.all(eventsByKeys, { keys }),
    storage.all(disclosuresOf, { bookingId: booking.id }),
  ]);
  const eventIds = events.map(({ id }) => id);
  const notifications = await storage.all(notificationsOfEvents, { eventIds });
  return historyOf(booking, { events, notifications, disclosures });
}

function historyOf(
  booking: Booking,
  { events, notifications, disclosures }: BookingRecords,
): readonly HistoryEntry[] {
  const recorded = (type: BookingEventType, at: Date, title: string): HistoryEntry => {
    const key = bookingEventKey(type, booking.id);
    const event = events.find(({ idempotencyKey }) => idempotencyKey === key);
    return {
      at,
      type,
      title,
      actor: event === undefined ? null : (event.actor ?? booking.userId),
      eventId: event?.id ?? null,
      notifications: notifications.filter(({ eventId }) => eventId === event?.id),
    };
  };
  const sold = recorded("booking.confirmed", booking.createdAt, `Booked: ${saleOf(booking)}`);
  return [
    { ...sold, actor: sold.actor ?? booking.userId },
    ...(booking.cancelledAt === null
      ? []
      : [
          recorded("booking.cancelled", booking.cancelledAt, "Cancelled; seats released"),
          refund(booking, booking.cancelledAt),
        ]),
    ...disclosures.map(revealed),
  ].toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

const noEvent = { eventId: null, notifications: [] };

function saleOf({ seats, totalMinor, currency }: Booking): string {
  const price = moneyText(moneyOf(totalMinor, currency));
  return `${seats === 1 ? "1 seat" : `${seats} seats`} for ${price}`;
}

function refund(
  { refundMinor, refundPercent, refundReason, currency }: Booking,
  at: Date,
): HistoryEntry {
  const amount = moneyText(moneyOf(refundMinor ?? 0, currency));
  const suffix = refundReason === null ? "" : `: ${refundReason}`;
  const title = `Refund of ${amount} (${refundPercent ?? 0} %) pending${suffix}`;
  return { at, type: "refund.pending", title, actor: null, ...noEvent };
}

function revealed({ createdAt, actor, reason }: Disclosure): HistoryEntry {
  const title = `Passports revealed: ${reason}`;
  return { at: createdAt, type: "passport.revealed", title, actor, ...noEvent };
}
