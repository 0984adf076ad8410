import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { BookingOnFlight } from "./bookings.sql.ts";
import type { Storage } from "../../db/storage.ts";

import {
  type BookingDetails,
  bookingDetails,
  type PassengerView,
  passengerView,
} from "./booking-view.ts";
import type { Booking, Passenger, PersonalData } from "../booking.ts";
import { passengersOf } from "../personal-data/personal-data.sql.ts";
import { MissingKeyError, type PersonalDataOpener } from "../personal-data/personal-data.ts";

export interface DetailsParts {
  readonly storage: Storage;
  readonly seal: PersonalDataOpener;
  readonly clock: Clock;
}

/** A booking with its passengers, what identifies them masked. */
export async function detailsOf(
  { storage, seal, clock }: DetailsParts,
  booking: BookingOnFlight,
): Promise<BookingDetails> {
  const passengers = await storage.all(passengersOf, { bookingId: booking.id });
  const opened = passengers.map((passenger) => opening(seal, passenger));
  return bookingDetails(booking, opened, new Date(clock.now()));
}

/** The same of passengers alone; `unavailable`, not thrown, when their key is not here. */
export function passengersShown(
  seal: PersonalDataOpener,
  passengers: readonly Passenger[],
): readonly PassengerView[] | AppError {
  try {
    return passengers.map((passenger) => passengerView(opening(seal, passenger)));
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** An operator has to bring a key back, which takes its time. */
const retryAfterSeconds = 60;

/**
 * A passenger with what identifies them. Throws `unavailable` when the key is not here: the operator
 * finds in the log which one to bring back.
 */
function opening(seal: PersonalDataOpener, passenger: Passenger): Passenger & PersonalData {
  try {
    return { ...passenger, ...seal.open(passenger) };
  } catch (error) {
    if (!(error instanceof MissingKeyError)) throw error;
    const detail = "The passengers of this booking cannot be read at the moment; try again later";
    throw new AppError("unavailable", detail, { retryAfterSeconds, cause: error });
  }
}

export function isBookingId(id: string): id is Booking["id"] {
  return /^bk_[0-9a-f]{1,64}$/.test(id);
}
