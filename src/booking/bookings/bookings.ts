import { type Context, isAdmin, requireAdmin } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import { type Creation, type KeyedRequest, once } from "../../identity/idempotency/idempotent.ts";
import { retryIfChanged } from "../../inbound/receive/effects.ts";
import { inSpan, type Tracer } from "../../telemetry/tracing/tracer.ts";
import type { BookingChangeView } from "../model/booking-change.ts";
import type { Booking } from "../model/booking.ts";
import {
  bookingById,
  type BookingOnFlight,
  bookingsByIds,
  leadPassengers,
  passengersOfBookings,
} from "../model/bookings.sql.ts";
import type { ChangesOfBookings } from "../model/changes-of-bookings.ts";
import { isBookingId } from "../model/find-booking.ts";
import { type BookingMoney, moneyView } from "../payments/payment-view.ts";
import type { RefundProgress } from "../payments/payment.schema.ts";
import { paymentsOfBookings } from "../payments/payments.sql.ts";
import { readRefundRequest, recordRefund, type RefundParts } from "../payments/recorded-refund.ts";

import { detailsOf, passengersShown } from "./booking-details.ts";
import type { BookingFilters } from "./booking-filters.ts";
import { readHistory } from "./booking-history.ts";
import { readBookingRequest } from "./booking-request.ts";
import { bookingsMatching } from "./booking-search.ts";
import {
  type BookingMade,
  bookingMade,
  bookingSummary,
  cancellationOf,
  cancellationQuote,
  paymentForAdmins,
  quoteOfCancelled,
} from "./booking-view.ts";
import type {
  BookingDetails,
  BookingSummary,
  Cancellation,
  CancellationQuote,
  PassengerView,
} from "./booking.schema.ts";
import { type CancellationParts, cancelNow, refundNow } from "./cancellation.ts";
import { accessibleTo, ownBooking, refusePart } from "./own-booking.ts";
import { type SaleParts, sell } from "./sale.ts";

export interface Bookings {
  /**
   * Takes the seats and stores the booking, confirmed or held, in one transaction. With a key, retries return the original
   * result (`replayed`). Throws `invalid-body`, `validation-failed`, `flight-not-found`,
   * `booking-closed`, `no-seats`, `price-changed`, `idempotency-key-reused`.
   */
  create(
    ctx: Context,
    body: unknown,
    idempotencyKey: string | null,
  ): Promise<Creation<BookingMade>>;
  /** Users read their own bookings, admins any booking and its history. Throws `booking-not-found`. */
  read(ctx: Context, id: string): Promise<BookingDetails>;
  /** The bookings among `ids` that the caller may read, in any order. */
  find(ctx: Context, ids: readonly string[]): Promise<BookingSummary[]>;
  /**
   * The passengers of the bookings among `ids` that the caller may read, by booking id and in order of their
   * position. A booking whose encryption key is missing has an `unavailable` error instead; the others are
   * not affected.
   */
  passengers(
    ctx: Context,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, readonly PassengerView[] | AppError>>;
  /** The payment methods, payments and refunds of the bookings among `ids` that the caller may read, by booking id. */
  money(ctx: Context, ids: readonly string[]): Promise<ReadonlyMap<string, BookingMoney>>;
  /**
   * Newest first. Users list their own bookings, admins all that match. Throws `insufficient-scope` when a
   * caller without the role admin filters them or names another user.
   */
  list(ctx: Context, request: PageRequest, filters: BookingFilters): Promise<Page<BookingSummary>>;
  /** The same, with what only admins see of each booking. */
  listInFull: Bookings["list"];
  /** The refund for a cancellation now. Throws `booking-not-found`, `not-cancellable`, `booking-closed`. */
  quote(ctx: Context, id: string): Promise<CancellationQuote>;
  /**
   * Cancels a booking and releases its seats. Idempotent: later calls return the first cancellation.
   * Throws `booking-not-found`, `not-cancellable`, `booking-closed`.
   */
  cancel(ctx: Context, id: string): Promise<Cancellation>;
  /**
   * Records that a refund was made, for admins. Idempotent: the amount is the sum of all refunds so far. Returns the
   * progress of the refund. Throws `insufficient-scope`, `booking-not-found`, `invalid-body`, `validation-failed`.
   */
  recordRefund(ctx: Context, id: string, body: unknown): Promise<RefundProgress>;
  /** The offers and changes of the bookings among `ids` that the caller may read, newest first, by booking id. */
  changes(
    ctx: Context,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, readonly BookingChangeView[]>>;
}

interface Parts extends SaleParts, CancellationParts, RefundParts {
  readonly changes: ChangesOfBookings;
  /** Keys for the hashes of requests, because requests hold personal data. */
  readonly hashKeys: KeyedRequest["hashKeys"];
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  /** Called after a hold was committed. */
  readonly held: () => void;
}

export function bookings(parts: Parts): Bookings {
  const { storage, tracer, clock } = parts;

  const findOwn = (ctx: Context, id: string) => ownBooking(storage, ctx, id);

  /** Matches the bookings among `ids` that the caller may read. */
  const among = (ctx: Context, ids: readonly string[]) => ({
    ids: ids.filter(isBookingId),
    userId: accessibleTo(ctx),
  });

  async function find(id: string): Promise<BookingOnFlight> {
    const [booking] = isBookingId(id) ? await storage.all(bookingById, { id, userId: null }) : [];
    if (booking === undefined) throw new Error(`Booking ${id} no longer exists`);
    return booking;
  }

  async function pageOf(ctx: Context, request: PageRequest, filters: BookingFilters) {
    const { userId = ctx.actor.id, ...others } = filters;
    const isFiltered = Object.values(others).some((value) => value !== undefined);
    if (userId !== ctx.actor.id || isFiltered) requireAdmin(ctx);
    const matching = isAdmin(ctx) ? filters : { userId };
    const now = new Date(clock.now());
    return { page: await paginate(bookingsMatching(storage, matching, now), request), now };
  }

  return {
    async create(ctx, body, key) {
      const now = new Date(clock.now());
      const request = readBookingRequest(body, now);
      const { actor } = ctx;
      const { hashKeys } = parts;
      const keyed = { actor, operation: "booking", key, input: request, hashKeys, now } as const;
      return once(
        storage,
        keyed,
        async () => {
          const seats = { "skyhook.booking.seats": request.passengers.length };
          const booking = await inSpan(tracer, "booking create", { attributes: seats }, () =>
            sell(parts, ctx, request, keyed, now),
          );
          parts.seatsChanged(booking.flightId);
          if (booking.expiresAt !== null) parts.held();
          return bookingMade(booking);
        },
        async (id) => bookingMade((await parts.changes.history(await find(id))).sold),
      );
    },
    async read(ctx, id) {
      const booking = await findOwn(ctx, id);
      const [details, changes] = await Promise.all([
        detailsOf(parts, booking),
        parts.changes.shown(booking),
      ]);
      const shown = changes.length === 0 ? details : { ...details, changes };
      return isAdmin(ctx) ? { ...shown, history: await readHistory(parts, booking) } : shown;
    },
    async find(ctx, ids) {
      const found = await storage.all(bookingsByIds, among(ctx, ids));
      const now = new Date(clock.now());
      return found.map((booking) => bookingSummary(booking, now));
    },
    async passengers(ctx, ids) {
      const found = await storage.all(passengersOfBookings, among(ctx, ids));
      const byBooking = Map.groupBy(found, ({ bookingId }): string => bookingId);
      return new Map(
        [...byBooking].map(([id, sealed]) => [id, passengersShown(parts.seal, sealed)]),
      );
    },
    async money(ctx, ids) {
      const found = await storage.all(bookingsByIds, among(ctx, ids));
      const records = await storage.all(paymentsOfBookings, { ids: found.map(({ id }) => id) });
      const byBooking = Map.groupBy(records, ({ bookingId }) => bookingId);
      const moneyOf = (booking: Booking): BookingMoney => ({
        ...moneyView(booking, byBooking.get(booking.id) ?? []),
        paymentMethod: booking.paymentMethod,
      });
      return new Map(found.map((booking) => [booking.id, moneyOf(booking)]));
    },
    async changes(ctx, ids) {
      const found = await storage.all(bookingsByIds, among(ctx, ids));
      const shown = async (booking: Booking) =>
        [booking.id, await parts.changes.shown(booking)] as const;
      return new Map(await Promise.all(found.map(shown)));
    },
    async list(ctx, request, filters) {
      const { page, now } = await pageOf(ctx, request, filters);
      return { ...page, data: page.data.map((booking) => bookingSummary(booking, now)) };
    },
    async listInFull(ctx, request, filters) {
      const { page, now } = await pageOf(ctx, request, filters);
      const ids = isAdmin(ctx) ? page.data.map(({ id }) => id) : [];
      const leads = ids.length === 0 ? [] : await storage.all(leadPassengers, { ids });
      const leadOf = new Map<string, string>(
        leads.map(({ bookingId, firstName, lastName }) => [bookingId, `${firstName} ${lastName}`]),
      );
      const data = page.data.map((booking) => {
        const summary = bookingSummary(booking, now);
        const leadPassenger = leadOf.get(booking.id);
        if (leadPassenger === undefined) return summary;
        return { ...summary, ...paymentForAdmins(booking), leadPassenger };
      });
      return { ...page, data };
    },
    async quote(ctx, id) {
      const now = new Date(clock.now());
      const booking = await findOwn(ctx, id);
      if (booking.status === "cancelled") return quoteOfCancelled(booking);
      return cancellationQuote(booking, refundNow(parts.refundPolicy, booking, now), now);
    },
    cancel: (ctx, id) =>
      retryIfChanged(async () => {
        const booking = await findOwn(ctx, id);
        if (booking.status !== "cancelled") {
          await inSpan(tracer, "booking cancel", {}, () => cancelNow(parts, ctx, booking));
          return cancellationOf(await find(id));
        }
        await storage.settled();
        return cancellationOf(booking);
      }),
    async recordRefund(ctx, id, body) {
      requireAdmin(ctx);
      refusePart(body);
      await recordRefund(parts, ctx, readRefundRequest(body), () => findOwn(ctx, id));
      const records = await storage.all(paymentsOfBookings, { ids: [id].filter(isBookingId) });
      const { refund } = moneyView(await find(id), records);
      if (refund === null) throw new Error(`Booking ${id} has no refund`);
      return refund;
    },
  };
}
