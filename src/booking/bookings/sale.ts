import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { nodeCrypto } from "../../base/crypto.ts";
import { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import { moneyOf } from "../../base/money.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { type KeyedRequest, reserveKey } from "../../identity/idempotency/idempotent.ts";
import { notErased } from "../../identity/users/erasures.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { bookingEventWrites, type EventMaking, ownEvent } from "../events/own-events.ts";
import { flightById, takeSeats } from "../flights/flights.sql.ts";
import { transitions } from "../model/booking-state.ts";
import { type Booking, emptyBooking, type Passenger } from "../model/booking.ts";
import { type BookingOnFlight, insertBooking, insertPassenger } from "../model/bookings.sql.ts";
import { closesAfter, closesAt, type Flight, isOnSale, seatsLeft } from "../model/flight.ts";
import type { SeatHold } from "../model/seat-hold.ts";
import type { PersonalDataSeal } from "../personal-data/personal-data.ts";
import { holdWrites } from "../seats/holding.ts";

import type { BookingRequest } from "./booking-request.ts";
import { requirePrice } from "./expected-price.ts";
import { storedFolding } from "./name-folding.ts";

export interface SaleParts extends EventMaking {
  readonly makeId: MakeId;
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly seal: PersonalDataSeal;
  readonly clock: Clock;
  readonly makeReference: () => string;
  /** How long seats are held for a payment. */
  readonly holdMs: number;
}

/**
 * Attempts to find a free reference, and to take seats that others take and release, or whose price moves. With 190 million
 * references, this many collisions in a row do not occur.
 */
const maxAttempts = 5;

const referenceTaken = new AppError("internal", "The reference is taken");
const saleChanged = new AppError("internal", "The flight's seats or price have changed");

/**
 * Takes the seats and stores the booking, confirmed or held, passengers, idempotency key and event in one transaction. Throws
 * `flight-not-found`, `booking-closed`, `no-seats`, `price-changed`, `validation-failed` for too many holds, and `keyTaken` if
 * an equal request committed first.
 */
export async function sell(
  parts: SaleParts,
  ctx: Context,
  request: BookingRequest,
  keyed: KeyedRequest,
  now: Date,
): Promise<BookingOnFlight> {
  const { storage, outbox, seal } = parts;
  const isHold = request.hold === true;
  const seats = request.passengers.length;

  for (let attempt = 1; ; attempt += 1) {
    const flight = await flightForSale(storage, request.flightId, seats, now);
    requirePrice(request.expectedPrice, moneyOf(flight.priceMinor * seats, flight.currency));
    if (attempt > maxAttempts) throw tooManyRivals();
    const booking = newBooking(parts, ctx, request, flight, now);
    const { event: type } = isHold ? transitions.hold : transitions.book;
    const event = ownEvent(type, [{ ...booking, flight }], ctx.actor, parts, now);
    try {
      const [taken] = await storage.atomically(
        write(takeSeats, { ...flight, seats, closesAfter: closesAfter(now) }, saleChanged),
        ...holdOf(booking).flatMap((hold) => holdWrites(hold, "/hold")),
        write(insertBooking, booking, referenceTaken),
        ...passengersFor(booking, request, seal).map((passenger) =>
          write(insertPassenger, passenger),
        ),
        ...bookingEventWrites(outbox, event, booking.userId),
        ...reserveKey(keyed, booking.id),
        notErased(ctx),
      );
      outbox.committed(event);
      // Not the number read above, of which concurrent bookings may have taken some.
      return { ...booking, flight: { ...flight, ...taken.rows[0] } };
    } catch (error) {
      // The flight is read again: the price has moved, or seats were taken and perhaps released.
      const isAgain = error === saleChanged || (error === referenceTaken && attempt < maxAttempts);
      if (!isAgain) throw error;
    }
  }
}

/**
 * The flight, if so many of its seats can be sold now. A sale requires the price that is read here. Throws
 * `flight-not-found`, `booking-closed`, `no-seats`.
 */
export async function flightForSale(
  storage: Storage,
  flightId: Flight["id"],
  seats: number,
  now: Date,
): Promise<Flight> {
  const [flight] = await storage.all(flightById, { id: flightId });
  if (flight === undefined) throw new AppError("flight-not-found", "No flight has this id");
  if (!isOnSale(flight, now)) throw new AppError("booking-closed", closedDetail(flight));
  if (seatsLeft(flight) < seats) throw noSeats(seatsLeft(flight));
  return flight;
}

function closedDetail({ cancelledAt }: Flight): string {
  return cancelledAt === null
    ? "Sales for this flight have ended: it departs within 60 minutes or has departed"
    : "The airline cancelled this flight";
}

function newBooking(
  { makeId, makeReference, holdMs }: SaleParts,
  { actor }: Context,
  { hold, passengers, contactEmail, paymentMethod }: BookingRequest,
  flight: Flight,
  now: Date,
): Booking {
  const isHold = hold === true;
  const seats = passengers.length;
  const totalMinor = flight.priceMinor * seats;
  return {
    ...emptyBooking,
    id: makeId("bk", now.getTime()),
    reference: makeReference(),
    userId: actor.id,
    flightId: flight.id,
    flightRevision: flight.revision,
    status: isHold ? transitions.hold.to : transitions.book.to,
    seats,
    totalMinor,
    chargedMinor: isHold ? 0 : totalMinor,
    currency: flight.currency,
    contactEmail,
    paymentMethod,
    createdAt: now,
    updatedAt: now,
    expiresAt: isHold ? holdEnds(flight, now, holdMs) : null,
    confirmedAt: isHold ? null : now,
  };
}

/** The hold of a booking that is not confirmed. */
function holdOf({ id, userId, flightId, seats, expiresAt }: Booking): readonly SeatHold[] {
  return expiresAt === null
    ? []
    : [{ bookingId: id, purpose: "booking", flightId, seats, userId, expiresAt }];
}

/** A hold ends before sales do, so that it can still be paid and its seats still be sold. */
function holdEnds({ departureTime }: Flight, now: Date, holdMs: number): Date {
  return new Date(Math.min(now.getTime() + holdMs, closesAt(departureTime).getTime()));
}

function tooManyRivals(): AppError {
  const detail = "Many bookings and cancellations compete for these seats. Try again.";
  return new AppError("unavailable", detail, { retryAfterSeconds: 1 });
}

function noSeats(seatsAvailable: number): AppError {
  const left =
    seatsAvailable === 1 ? "Only 1 seat is left" : `Only ${seatsAvailable} seats are left`;
  return new AppError("no-seats", seatsAvailable === 0 ? "No seats are left" : left, {
    seatsAvailable,
  });
}

function passengersFor(
  { id }: Booking,
  { passengers }: BookingRequest,
  seal: PersonalDataSeal,
): Passenger[] {
  return passengers.map(({ dateOfBirth, passportNumber, ...passenger }, index) => {
    const place = { bookingId: id, position: index + 1 };
    return {
      ...place,
      ...passenger,
      lastNameFolded: storedFolding(passenger.lastName),
      sealed: seal.seal(place, { dateOfBirth, passportNumber }),
      cancelledAt: null,
      corrections: 0,
    };
  });
}

/** The alphabet without I and O, which are easily confused with 1 and 0. */
const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";
const length = 6;

/** Six random letters: 24⁶, about 190 million references. */
export function makeReference(): string {
  const { randomInt } = nodeCrypto();
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join("");
}
