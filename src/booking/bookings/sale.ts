import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { closesAfter } from "../flight.ts";
import { type KeyedRequest, reserveKey } from "../../identity/idempotency/idempotent.ts";
import type { MakeId } from "../../base/ids.ts";
import type { Outbox } from "../../gateway/notifications/outbox.ts";
import { type BookingOnFlight, insertBooking, insertPassenger } from "./bookings.sql.ts";
import { insertEvent } from "../../gateway/events/events.sql.ts";
import { flightById, takeSeats } from "../flights/flights.sql.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import { bookingEvent, bookingMessage } from "./booking-event.ts";
import type { BookingRequest } from "./booking-request.ts";
import type { Booking, Passenger } from "../booking.ts";
import type { PersonalDataSeal } from "../personal-data/personal-data.ts";

export interface SaleParts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly seal: PersonalDataSeal;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly makeReference: () => string;
}

/** Attempts to find a free reference. With 190 million references, this many collisions in a row do not occur. */
const maxReferences = 5;

const referenceTaken = new AppError("internal", "The reference is taken");

/**
 * Takes the seats and stores the booking, passengers, idempotency key and event in one transaction. Throws
 * `flight-not-found`, `booking-closed`, `no-seats`, and `keyTaken` if an equal request committed first.
 */
export async function sell(
  parts: SaleParts,
  ctx: Context,
  request: BookingRequest,
  keyed: KeyedRequest | null,
  now: Date,
): Promise<BookingOnFlight> {
  const { storage, outbox, seal, makeId, makeReference } = parts;
  const seats = request.passengers.length;
  const leavesAfter = closesAfter(now);
  const [flight] = await storage.all(flightById, { id: request.flightId });
  if (flight === undefined) throw new AppError("flight-not-found", "No flight has this id");
  if (flight.departureTime <= leavesAfter) {
    const detail = "Sales for this flight have ended: it departs within 60 minutes or has departed";
    throw new AppError("booking-closed", detail);
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
        write(takeSeats, { id: flight.id, seats, closesAfter: leavesAfter }, noSeats(0)),
        write(insertBooking, booking, referenceTaken),
        ...passengersFor(booking, request, seal).map((passenger) =>
          write(insertPassenger, passenger),
        ),
        write(insertEvent, event),
        ...outbox.writesFor(event, [bookingMessage(event)]),
        ...(keyed === null ? [] : reserveKey(keyed, booking.id)),
      );
      const seatsAvailable = flight.seatsAvailable - seats;
      return { ...booking, flight: { ...flight, seatsAvailable } };
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
    return { ...place, ...passenger, sealed: seal.seal(place, { dateOfBirth, passportNumber }) };
  });
}
