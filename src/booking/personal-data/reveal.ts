import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Booking, Passenger, PersonalData } from "../model/booking.ts";

import type { Disclosure } from "./disclosure.ts";
import { insertDisclosure, passengersOf } from "./personal-data.sql.ts";
import type { PersonalDataOpener } from "./personal-data.ts";

interface Parts {
  readonly storage: Storage;
  readonly seal: PersonalDataOpener;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/**
 * Returns the passengers of a booking with their birth dates and passport numbers in clear text. Stores who
 * read them and why, before it returns them. Throws `booking-not-found`, and a `MissingKeyError` when they
 * cannot be decrypted.
 */
export async function revealPassengers(
  { storage, seal, clock, makeId }: Parts,
  { bookingId, ...disclosed }: { bookingId: string } & Pick<Disclosure, "actor" | "reason">,
): Promise<readonly (Passenger & PersonalData)[]> {
  const id: Booking["id"] = `bk_${bookingId.replace(/^bk_/, "")}`;
  const passengers = await storage.all(passengersOf, { bookingId: id });
  if (passengers.length === 0) throw new AppError("booking-not-found", "No booking has this id");
  // Decrypt first: if that fails, nothing is revealed and nothing must be recorded.
  const opened = passengers.map((passenger) => ({ ...passenger, ...seal.open(passenger) }));
  const now = clock.now();
  const disclosure: Disclosure = {
    ...disclosed,
    id: makeId("dis", now),
    bookingId: id,
    createdAt: new Date(now),
  };
  await storage.atomically(write(insertDisclosure, disclosure));
  return opened;
}
