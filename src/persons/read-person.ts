import { bookingSummary } from "../booking/bookings/booking-view.ts";
import type { Storage } from "../db/storage.ts";
import { usersByIds } from "../identity/users/users.sql.ts";

import { openBookingsOf } from "./erase-person.ts";
import { bookingsOfPerson, passengersByEmailBeginning, rolesOfUsers } from "./found-persons.sql.ts";
import type { PersonDetails } from "./person.schema.ts";
import { findPerson, type Person, valuesOf } from "./person.ts";

/** The most bookings of an answer. */
const maxBookings = 100;
/** The most sessions whose roles are read. */
const maxSessions = 100;

/** Reads the account and the bookings of a person, who may have none. */
export async function readPerson(
  storage: Storage,
  given: string,
  now: Date,
): Promise<PersonDetails> {
  const person = await findPerson(storage, given);
  const { ids } = person;
  const values = valuesOf(person, [], maxBookings + 1);
  const [[user], sessions, bookings, openBookings, name] = await Promise.all([
    storage.all(usersByIds, { ids }),
    storage.all(rolesOfUsers, { ids, expiresAt: now, limit: maxSessions }),
    storage.all(bookingsOfPerson, values, "long"),
    openBookingsOf(storage, { ...values, now }),
    nameOf(storage, person),
  ]);
  return {
    person,
    name: user?.name ?? name,
    createdAt: user?.createdAt ?? null,
    roles: [...new Set(sessions.flatMap(({ roles }) => roles))],
    bookings: bookings.slice(0, maxBookings).map((booking) => bookingSummary(booking, now)),
    hasMore: bookings.length > maxBookings,
    openBookings: openBookings.slice(0, maxBookings),
  };
}

/** That of a passenger with this e-mail address. */
async function nameOf(storage: Storage, { email }: Person): Promise<string | null> {
  if (email === null) return null;
  const from = email.toLowerCase();
  // No address has a space: nothing else is between the two.
  const exactly = { from, until: `${from} `, limit: 1 };
  const [found] = await storage.all(passengersByEmailBeginning, exactly);
  return found === undefined ? null : `${found.firstName} ${found.lastName}`;
}
