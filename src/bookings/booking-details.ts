import type { Clock } from "../clock.ts";
import { type BookingOnFlight, passengersOf } from "../storage/bookings.ts";
import type { Storage } from "../storage/storage.ts";

import { type BookingDetails, bookingDetails } from "./booking-view.ts";
import type { Booking } from "./booking.ts";
import type { PersonalDataSeal } from "./personal-data.ts";

export interface DetailsParts {
  readonly storage: Storage;
  readonly seal: PersonalDataSeal;
  readonly clock: Clock;
}

/** A booking with its passengers, what identifies them masked. */
export async function detailsOf(
  { storage, seal, clock }: DetailsParts,
  booking: BookingOnFlight,
): Promise<BookingDetails> {
  const passengers = await storage.all(passengersOf, { bookingId: booking.id });
  const opened = passengers.map((passenger) => ({ ...passenger, ...seal.open(passenger) }));
  return bookingDetails(booking, opened, new Date(clock.now()));
}

export function isBookingId(id: string): id is Booking["id"] {
  return /^bk_[0-9a-f]{1,64}$/.test(id);
}
