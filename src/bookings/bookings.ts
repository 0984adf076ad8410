import type { Clock } from "../clock.ts";
import type { Context } from "../context.ts";
import { AppError } from "../errors.ts";
import { departed } from "../flights/flight.ts";
import { type KeyedRequest, madeBefore, reserveKey } from "../idempotency/idempotent.ts";
import type { MakeId } from "../ids.ts";
import type { Outbox } from "../notifications/outbox.ts";
import type { Page, PageRequest } from "../pagination/page.ts";
import { paginate } from "../pagination/paginate.ts";
import {
  bookingById,
  type BookingOnFlight,
  bookingPages,
  bookingsByIds,
  cancelBooking,
  insertBooking,
  insertPassenger,
  passengersOf,
  passengersOfBookings,
} from "../storage/bookings.ts";
import { insertEvent } from "../storage/events.ts";
import { flightById, giveSeatsBack, takeSeats } from "../storage/flights.ts";
import { step } from "../storage/sql.ts";
import type { Storage } from "../storage/storage.ts";

import { bookingEvent, bookingMessage } from "./booking-event.ts";
import { type BookingRequest, readBookingRequest } from "./booking-request.ts";
import {
  type BookingCreated,
  bookingCreated,
  type BookingDetails,
  bookingDetails,
  type BookingSummary,
  bookingSummary,
  type Cancellation,
  cancellationOf,
  type CancellationQuote,
  cancellationQuote,
  quoteOfCancelled,
  type PassengerView,
  passengerView,
} from "./booking-view.ts";
import type { Booking, Passenger } from "./booking.ts";
import type { PersonalDataSeal } from "./personal-data.ts";
import { refundOf, type RefundPolicy } from "./refund.ts";

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
  ): Promise<{ readonly booking: BookingCreated; readonly replayed: boolean }>;
  /** The owner's, or anyone's for an admin. Throws `booking-not-found`. */
  read(ctx: Context, id: string): Promise<BookingDetails>;
  /** Those of `ids` that the asker may read, in any order. */
  find(ctx: Context, ids: readonly string[]): Promise<BookingSummary[]>;
  /** The passengers of those of `ids` that the asker may read, in order of their seats. */
  passengers(
    ctx: Context,
    ids: readonly string[],
  ): Promise<readonly (PassengerView & Pick<Passenger, "bookingId">)[]>;
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

interface Parts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly seal: PersonalDataSeal;
  /** For the hashes of requests, which hold personal data. */
  readonly hashKey: Uint8Array;
  readonly refundPolicy: RefundPolicy;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly makeReference: () => string;
  /** Told, after the commit, that a flight has more or fewer seats to sell. */
  readonly seatsChanged: (flightId: Booking["flightId"]) => void;
}

/** A flight sells until this long before its departure. */
const closesBeforeMs = 60 * 60_000;
/** One reference in 190 million is taken; so many in a row are not. */
const maxReferences = 5;

const referenceTaken = new AppError("internal", "The reference is taken");

export function bookings(parts: Parts): Bookings {
  const { storage, outbox, clock } = parts;

  async function findOwn({ actor }: Context, id: string): Promise<BookingOnFlight> {
    const [booking] = isBookingId(id) ? await storage.all(bookingById, { id }) : [];
    const isAllowed = booking?.userId === actor.id || actor.roles.includes("admin");
    // A stranger is told what they would be told if there were no such booking.
    if (booking === undefined || !isAllowed) {
      throw new AppError("booking-not-found", "There is no such booking");
    }
    return booking;
  }

  async function find(id: Booking["id"]): Promise<BookingOnFlight> {
    const [booking] = await storage.all(bookingById, { id });
    if (booking === undefined) throw new Error(`Booking ${id} is gone`);
    return booking;
  }

  async function details(booking: BookingOnFlight): Promise<BookingDetails> {
    const passengers = await storage.all(passengersOf, { bookingId: booking.id });
    const opened = passengers.map((passenger) => ({ ...passenger, ...parts.seal.open(passenger) }));
    return bookingDetails(booking, opened, new Date(clock.now()));
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
              hashKey: parts.hashKey,
              now,
            };
      const earlier = keyed && (await madeBefore(storage, keyed));
      if (earlier !== null) return replay(earlier);
      try {
        const booking = await sell(parts, ctx, request, keyed, now);
        outbox.committed();
        parts.seatsChanged(booking.flightId);
        return { booking: bookingCreated(booking), replayed: false };
      } catch (error) {
        // Of equal requests at once, those behind may find the key taken, or no seats by now.
        const first = keyed && (await madeBefore(storage, keyed));
        if (first) return replay(first);
        throw error;
      }
    },
    async read(ctx, id) {
      return details(await findOwn(ctx, id));
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
      return found.map((passenger) => ({
        bookingId: passenger.bookingId,
        ...passengerView({ ...passenger, ...parts.seal.open(passenger) }),
      }));
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
      requireCancellable(booking, now);
      const { refundPolicy } = parts;
      return cancellationQuote(
        booking,
        refundOf(refundPolicy, booking, booking.flight.departureTime, now),
        now,
      );
    },
    async cancel(ctx, id) {
      const booking = await findOwn(ctx, id);
      if (booking.status === "confirmed") {
        await refund(parts, ctx, booking);
        outbox.committed();
        parts.seatsChanged(booking.flightId);
      }
      return cancellationOf(await find(booking.id));
    },
  };

  async function replay(id: string) {
    if (!isBookingId(id)) throw new Error(`${id} is no booking's id`);
    return { booking: bookingCreated(await find(id)), replayed: true };
  }
}

/** Whose bookings the asker may read; null: everyone's. */
function readableBy({ actor }: Context): Booking["userId"] | null {
  return actor.roles.includes("admin") ? null : actor.id;
}

function isBookingId(id: string): id is Booking["id"] {
  return /^bk_[0-9a-f]{1,64}$/.test(id);
}

/** Takes the seats and stores booking, passengers, key and event as one unit of work. */
async function sell(
  parts: Parts,
  ctx: Context,
  request: BookingRequest,
  keyed: KeyedRequest | null,
  now: Date,
): Promise<Booking> {
  const { storage, outbox, seal, makeId, makeReference } = parts;
  const seats = request.passengers.length;
  const closesAfter = new Date(now.getTime() + closesBeforeMs);
  const [flight] = await storage.all(flightById, { id: request.flightId });
  if (flight === undefined) throw new AppError("flight-not-found", "There is no such flight");
  if (flight.departureTime <= closesAfter) {
    throw new AppError("booking-closed", "The flight leaves within an hour, or has left");
  }
  if (flight.seatsAvailable < seats) throw noSeats(flight.seatsAvailable);

  for (let attempt = 1; ; attempt += 1) {
    const booking: Booking = {
      id: makeId("bk", now.getTime()),
      reference: makeReference(),
      userId: ctx.actor.id,
      flightId: flight.id,
      status: "confirmed",
      seats,
      totalMinor: flight.priceMinor * seats,
      currency: flight.currency,
      contactEmail: request.contactEmail,
      paymentMethod: request.paymentMethod,
      createdAt: now,
      updatedAt: now,
      cancelledAt: null,
      refundMinor: null,
      refundPercent: null,
      refundReason: null,
    };
    const event = bookingEvent("booking.confirmed", { ...booking, flight }, ctx.actor, makeId, now);
    try {
      await storage.atomically(
        step(takeSeats, { id: flight.id, seats, closesAfter }, noSeats(0)),
        step(insertBooking, booking, referenceTaken),
        ...passengersFor(booking, request, seal).map((passenger) =>
          step(insertPassenger, passenger),
        ),
        step(insertEvent, event),
        ...outbox.stepsFor(event, [bookingMessage(event)]),
        ...(keyed === null ? [] : reserveKey(keyed, booking.id)),
      );
      return booking;
    } catch (error) {
      if (error === referenceTaken && attempt < maxReferences) continue;
      if (error instanceof AppError && error.code === "no-seats") {
        const [left] = await storage.all(flightById, { id: flight.id });
        throw noSeats(left?.seatsAvailable ?? 0);
      }
      throw error;
    }
  }
}

function noSeats(seatsAvailable: number): AppError {
  const left = seatsAvailable === 0 ? "No seats are left" : `Only ${seatsAvailable} seats are left`;
  return new AppError("no-seats", left, { seatsAvailable });
}

function passengersFor(
  { id }: Booking,
  { passengers }: BookingRequest,
  seal: PersonalDataSeal,
): Passenger[] {
  return passengers.map(({ dateOfBirth, passportNumber, ...passenger }, index) => {
    const place = { bookingId: id, position: index + 1 };
    return { ...place, ...passenger, sealed: seal.seal(place, { dateOfBirth, passportNumber }) };
  });
}

function requireCancellable(booking: BookingOnFlight, now: Date): void {
  if (booking.status === "confirmed" && departed(booking.flight, now)) {
    throw new AppError("not-cancellable", "The flight has departed");
  }
}

/** Cancels a confirmed booking and gives its seats back, in one unit of work. */
async function refund(
  { storage, outbox, refundPolicy, clock, makeId }: Parts,
  ctx: Context,
  booking: BookingOnFlight,
): Promise<void> {
  const now = new Date(clock.now());
  requireCancellable(booking, now);
  const { minor, percent, reason } = refundOf(
    refundPolicy,
    booking,
    booking.flight.departureTime,
    now,
  );
  const event = bookingEvent("booking.cancelled", booking, ctx.actor, makeId, now);
  await storage.atomically(
    step(
      cancelBooking,
      {
        id: booking.id,
        updatedAt: now,
        cancelledAt: now,
        refundMinor: minor,
        refundPercent: percent,
        refundReason: reason,
      },
      // Somebody else was first: they gave the seats back.
      "stop",
    ),
    step(giveSeatsBack, { id: booking.flightId, seats: booking.seats }),
    step(insertEvent, event),
    ...outbox.stepsFor(event, [bookingMessage(event)]),
  );
}
