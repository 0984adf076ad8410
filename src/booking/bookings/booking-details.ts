import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { MissingKeyError } from "../../base/sealing.ts";
import type { Storage } from "../../db/storage.ts";
import type { Passenger, PersonalData } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import { moneyView, paymentsOf } from "../payments/payment-view.ts";
import { passengersOf } from "../personal-data/personal-data.sql.ts";
import type { PersonalDataOpener } from "../personal-data/personal-data.ts";

import { bookingDetails, passengerView } from "./booking-view.ts";
import type { BookingDetails, PassengerView } from "./booking.schema.ts";

interface DetailsParts {
  readonly storage: Storage;
  readonly seal: PersonalDataOpener;
  readonly clock: Clock;
}

/** Returns a booking with its passengers, their birth dates and passport numbers masked. */
export async function detailsOf(
  { storage, seal, clock }: DetailsParts,
  booking: BookingOnFlight,
): Promise<BookingDetails> {
  const [passengers, records] = await Promise.all([
    storage.all(passengersOf, { bookingId: booking.id }),
    paymentsOf(storage, booking),
  ]);
  const opened = passengers.map((passenger) => openedPassenger(seal, passenger));
  const now = new Date(clock.now());
  return bookingDetails(booking, opened, moneyView(booking, records), now);
}

/** Returns masked passengers. If their key is missing, returns the `unavailable` error instead of throwing it. */
export function passengersShown(
  seal: PersonalDataOpener,
  passengers: readonly Passenger[],
): readonly PassengerView[] | AppError {
  try {
    return passengers.map((passenger) => passengerView(openedPassenger(seal, passenger)));
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** Long, because an operator has to restore the key first. */
const retryAfterSeconds = 60;

/**
 * Decrypts a passenger's personal data. Throws `unavailable` when the key is missing; the log names the key
 * that the operator must restore.
 */
export function openedPassenger(
  seal: PersonalDataOpener,
  passenger: Passenger,
): Passenger & PersonalData {
  try {
    return { ...passenger, ...seal.open(passenger) };
  } catch (error) {
    if (!(error instanceof MissingKeyError)) throw error;
    const detail = "The passengers of this booking are temporarily unavailable. Try again later.";
    throw new AppError("unavailable", detail, { retryAfterSeconds, cause: error });
  }
}
