import { type Context, requireOperator } from "../context.ts";
import { AppError } from "../errors.ts";
import type { Page, PageRequest } from "../pagination/page.ts";
import { paginate, type Source } from "../pagination/paginate.ts";
import {
  bookingById,
  type BookingOnFlight,
  bookingPages,
  disclosuresOf,
} from "../storage/bookings.ts";
import { eventsByKeys } from "../storage/events.ts";
import { notificationsOfEvents } from "../storage/notifications.ts";

import { detailsOf, type DetailsParts, isBookingId } from "./booking-details.ts";
import { bookingEventKey, bookingEventTypes } from "./booking-event.ts";
import { bookingHistory, type HistoryEntry } from "./booking-history.ts";
import { type BookingDetails, type BookingSummary, bookingSummary } from "./booking-view.ts";
import type { Booking } from "./booking.ts";

/** A booking with its passengers and all that happened to it. */
export interface BookingWithHistory extends BookingDetails {
  /** Oldest first. */
  readonly history: readonly HistoryEntry[];
}

/** Anyone's bookings, for operators only. */
export interface BookingLookup {
  /**
   * Newest first: the bookings of this very id, reference or contact's e-mail address, the latter two
   * without regard to case; all of them where nothing is asked for.
   */
  find(ctx: Context, request: PageRequest, q: string | undefined): Promise<Page<BookingSummary>>;
  /** Throws `booking-not-found`. */
  read(ctx: Context, id: string): Promise<BookingWithHistory>;
}

export function bookingLookup(parts: DetailsParts): BookingLookup {
  const { storage, clock } = parts;

  function sourceOf(q: string | undefined): Source<BookingOnFlight> {
    if (q === undefined) return bookingPages(storage, {});
    if (isBookingId(q)) return one(() => storage.all(bookingById, { id: q, userId: null }));
    if (q.includes("@")) return bookingPages(storage, { contactEmail: q });
    return bookingPages(storage, { reference: q.toUpperCase() });
  }

  async function historyOf(booking: Booking): Promise<readonly HistoryEntry[]> {
    const keys = bookingEventTypes.map((type) => bookingEventKey(type, booking.id));
    const [events, disclosures] = await Promise.all([
      storage.all(eventsByKeys, { keys }),
      storage.all(disclosuresOf, { bookingId: booking.id }),
    ]);
    const eventIds = events.map(({ id }) => id);
    const notifications = await storage.all(notificationsOfEvents, { eventIds });
    return bookingHistory(booking, { events, notifications, disclosures });
  }

  return {
    async find(ctx, request, q) {
      requireOperator(ctx);
      const page = await paginate(sourceOf(q), request);
      const now = new Date(clock.now());
      return { ...page, data: page.data.map((booking) => bookingSummary(booking, now)) };
    },
    async read(ctx, id) {
      requireOperator(ctx);
      const [booking] = isBookingId(id) ? await storage.all(bookingById, { id, userId: null }) : [];
      if (booking === undefined) {
        throw new AppError("booking-not-found", "There is no such booking");
      }
      return { ...(await detailsOf(parts, booking)), history: await historyOf(booking) };
    },
  };
}

/** A list of one item, or none. */
function one<Item>(read: () => Promise<Item[]>): Source<Item> {
  return {
    // Nothing comes before it or after it.
    read: async ({ from, offset }) => (from === null && offset === 0 ? read() : []),
    count: async () => (await read()).length,
  };
}
