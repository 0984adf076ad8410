import type { Context } from "../context.ts";
import { AppError } from "../errors.ts";
import { type Creation, type KeyedRequest, once } from "../idempotency/idempotent.ts";
import type { Page, PageRequest } from "../pagination/page.ts";
import { paginate } from "../pagination/paginate.ts";
import {
  bookingById,
  type BookingOnFlight,
  bookingPages,
  bookingsByIds,
  passengersOfBookings,
} from "../storage/bookings.ts";
import { inSpan, type Tracer } from "../telemetry/tracing/tracer.ts";

import { detailsOf, isBookingId, passengersShown } from "./booking-details.ts";
import { readBookingRequest } from "./booking-request.ts";
import {
  type BookingCreated,
  bookingCreated,
  type BookingDetails,
  type BookingSummary,
  bookingSummary,
  type Cancellation,
  cancellationOf,
  type CancellationQuote,
  cancellationQuote,
  type PassengerView,
  quoteOfCancelled,
} from "./booking-view.ts";
import type { Booking } from "./booking.ts";
import { type CancellationParts, cancelNow, refundNow } from "./cancellation.ts";
import { type SaleParts, sell } from "./sale.ts";

export interface Bookings {
  /**
   * Takes the seats and stores the booking, or neither. With a key, a retry is told what the first
   * request was (`replayed`). Throws `invalid-body`, `validation-failed`, `flight-not-found`,
   * `booking-closed`, `no-seats`, `idempotency-key-reused`.
   */
  create(
    ctx: Context,
    body: unknown,
    idempotencyKey: string | null,
  ): Promise<Creation<BookingCreated>>;
  /** The owner's, or anyone's for an admin. Throws `booking-not-found`. */
  read(ctx: Context, id: string): Promise<BookingDetails>;
  /** Those of `ids` that the asker may read, in any order. */
  find(ctx: Context, ids: readonly string[]): Promise<BookingSummary[]>;
  /**
   * The passengers of those of `ids` that the asker may read, in order of their seats; `unavailable` for a
   * booking whose key is not here, which hides no other's.
   */
  passengers(
    ctx: Context,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, readonly PassengerView[] | AppError>>;
  /** Newest first: one's own; for an admin all, or those of `userId`. */
  list(
    ctx: Context,
    request: PageRequest,
    filters: { readonly userId: string | undefined },
  ): Promise<Page<BookingSummary>>;
  /** What cancelling now would pay back. Throws `booking-not-found`, `not-cancellable`. */
  quote(ctx: Context, id: string): Promise<CancellationQuote>;
  /**
   * Cancels and gives the seats back, once however often it is asked: a repeat is told the same.
   * Throws `booking-not-found`, `not-cancellable`.
   */
  cancel(ctx: Context, id: string): Promise<Cancellation>;
}

interface Parts extends SaleParts, CancellationParts {
  /** For the hashes of requests, which hold personal data. */
  readonly hashKeys: () => KeyedRequest["hashKeys"];
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  /** Told, after the commit, that a flight has more or fewer seats to sell. */
  readonly seatsChanged: (flightId: Booking["flightId"]) => void;
}

export function bookings(parts: Parts): Bookings {
  const { storage, outbox, tracer, clock } = parts;

  async function findOwn(ctx: Context, id: string): Promise<BookingOnFlight> {
    // The database leaves out what is not theirs: a stranger is told what they would be told if there
    // were no such booking, and as soon.
    const userId = readableBy(ctx);
    const [booking] = isBookingId(id) ? await storage.all(bookingById, { id, userId }) : [];
    if (booking === undefined) {
      throw new AppError("booking-not-found", "There is no such booking");
    }
    return booking;
  }

  async function find(id: string): Promise<BookingOnFlight> {
    const [booking] = isBookingId(id) ? await storage.all(bookingById, { id, userId: null }) : [];
    if (booking === undefined) throw new Error(`Booking ${id} is gone`);
    return booking;
  }

  return {
    async create(ctx, body, idempotencyKey) {
      const now = new Date(clock.now());
      const request = readBookingRequest(body, now);
      const keyed =
        idempotencyKey === null
          ? null
          : {
              actor: ctx.actor,
              operation: "booking",
              key: idempotencyKey,
              input: request,
              hashKeys: parts.hashKeys(),
              now,
            };
      return once(
        storage,
        keyed,
        async () => {
          const seats = { "skyhook.booking.seats": request.passengers.length };
          const booking = await inSpan(tracer, "booking create", { attributes: seats }, () =>
            sell(parts, ctx, request, keyed, now),
          );
          outbox.committed();
          parts.seatsChanged(booking.flightId);
          return bookingCreated(booking);
        },
        async (id) => bookingCreated(await find(id)),
      );
    },
    async read(ctx, id) {
      return detailsOf(parts, await findOwn(ctx, id));
    },
    async find(ctx, ids) {
      const found = await storage.all(bookingsByIds, {
        ids: ids.filter(isBookingId),
        userId: readableBy(ctx),
      });
      const now = new Date(clock.now());
      return found.map((booking) => bookingSummary(booking, now));
    },
    async passengers(ctx, ids) {
      const found = await storage.all(passengersOfBookings, {
        ids: ids.filter(isBookingId),
        userId: readableBy(ctx),
      });
      const byBooking = Map.groupBy(found, ({ bookingId }): string => bookingId);
      return new Map(
        [...byBooking].map(([id, sealed]) => [id, passengersShown(parts.seal, sealed)]),
      );
    },
    async list(ctx, request, { userId }) {
      const source = bookingPages(storage, { userId: readableBy(ctx) ?? userId });
      const page = await paginate(source, request);
      const now = new Date(clock.now());
      return { ...page, data: page.data.map((booking) => bookingSummary(booking, now)) };
    },
    async quote(ctx, id) {
      const now = new Date(clock.now());
      const booking = await findOwn(ctx, id);
      if (booking.status === "cancelled") return quoteOfCancelled(booking);
      return cancellationQuote(booking, refundNow(parts.refundPolicy, booking, now), now);
    },
    async cancel(ctx, id) {
      const booking = await findOwn(ctx, id);
      const isFirst =
        booking.status === "confirmed" &&
        (await inSpan(tracer, "booking cancel", {}, () => cancelNow(parts, ctx, booking)));
      if (isFirst) {
        outbox.committed();
        parts.seatsChanged(booking.flightId);
      } else await storage.settled();
      return cancellationOf(await find(booking.id));
    },
  };
}

/** Whose bookings the asker may read; null: everyone's. */
function readableBy({ actor }: Context): Booking["userId"] | null {
  return actor.roles.includes("admin") ? null : actor.id;
}
