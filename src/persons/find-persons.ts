import { foldedName } from "../booking/bookings/name-folding.ts";
import { findBooking } from "../booking/model/find-booking.ts";
import { passengersOf } from "../booking/personal-data/personal-data.sql.ts";
import type { Storage } from "../db/storage.ts";
import { userById } from "../identity/users/users.sql.ts";

import {
  contactsByBeginning,
  newestUsers,
  passengersByEmailBeginning,
  passengersByNameBeginning,
  usersByEmailBeginning,
  usersByNameBeginning,
} from "./found-persons.sql.ts";
import type { FoundPerson, FoundPersons } from "./person.schema.ts";
import { findPerson } from "./person.ts";
import { noAddress } from "./persons.sql.ts";

/** The most persons of an answer. */
const maxFound = 20;
/** The most rows of each search, of which several may be of one person. */
const maxRows = 100;

interface Named {
  readonly email: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

const ofAccount = ({ id, name, email }: Account): FoundPerson => ({ userId: id, name, email });
const ofRow = ({ firstName, lastName, email }: Named): FoundPerson => ({
  userId: null,
  name: firstName === undefined ? null : `${firstName} ${lastName}`,
  email,
});

/** As the databases' `lower` does, which changes ASCII letters only. */
const lowerAscii = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

const beginning = (from: string) => ({ from, until: `${from}\u{10ffff}`, limit: maxRows });

/**
 * Finds persons by a booking's id or reference, by a user's id, or by the beginning of an e-mail address, of a user's name or
 * of a passenger's last name. Without a text: the newest users.
 */
export async function findPersons(storage: Storage, text: string): Promise<FoundPersons> {
  const q = text.normalize("NFC").trim().replaceAll(/\s+/g, " ");
  const found = q === "" ? await newest(storage) : await matching(storage, q);
  const persons = [...merged(found.persons).values()];
  return { data: persons.slice(0, maxFound), hasMore: found.isCut || persons.length > maxFound };
}

interface Found {
  readonly persons: readonly FoundPerson[];
  /** Whether a search found more rows, which may be of other persons. */
  readonly isCut: boolean;
}

async function newest(storage: Storage): Promise<Found> {
  const users = await storage.all(newestUsers, { limit: maxFound + 1 });
  return { persons: users.map(ofAccount), isCut: false };
}

async function matching(storage: Storage, q: string): Promise<Found> {
  const byBooking = await ofBooking(storage, q);
  if (byBooking.length > 0) return { persons: byBooking, isCut: false };
  const email = beginning(q.toLowerCase());
  const [last = "", ...before] = q.split(" ").toReversed();
  const first = beginning(lowerAscii(before.toReversed().join(" ")));
  const byName = { ...beginning(foldedName(last)), firstFrom: first.from, firstUntil: first.until };
  const [users, named, contacts, passengers, travellers] = await Promise.all([
    storage.all(usersByEmailBeginning, email, "long"),
    storage.all(usersByNameBeginning, beginning(lowerAscii(q)), "long"),
    storage.all(contactsByBeginning, email, "long"),
    storage.all(passengersByEmailBeginning, email, "long"),
    storage.all(passengersByNameBeginning, byName, "long"),
  ]);
  const searches = [users, named, contacts, passengers, travellers];
  const persons = [
    ...[...users, ...named].map(ofAccount),
    ...[...passengers, ...travellers, ...contacts].map(ofRow),
  ];
  if (persons.length === 0) return { persons: await ofUser(storage, q), isCut: false };
  return { persons, isCut: searches.some(({ length }) => length === maxRows) };
}

async function ofBooking(storage: Storage, q: string): Promise<readonly FoundPerson[]> {
  const booking = await findBooking(storage, q);
  if (booking === undefined) return [];
  const passengers = await storage.all(passengersOf, { bookingId: booking.id });
  const owner = await ofUser(storage, booking.userId);
  return [...owner, ...passengers.map(ofRow), ofRow({ email: booking.contactEmail })];
}

/** Users whom only an identity provider knows have rows, but no account. */
async function ofUser(storage: Storage, id: string): Promise<readonly FoundPerson[]> {
  const [user] = await storage.all(userById, { id });
  if (user !== undefined) return [ofAccount(user)];
  const { ids } = await findPerson(storage, id);
  return ids.slice(0, 1).map((userId) => ({ userId, name: null, email: null }));
}

/** Each person once, by the e-mail address or, without one, the user's id. */
function merged(found: readonly FoundPerson[]): ReadonlyMap<string, FoundPerson> {
  const persons = new Map<string, FoundPerson>();
  for (const person of found) {
    const key = (person.email ?? person.userId ?? "").toLowerCase();
    if (person.email === noAddress || person.userId?.startsWith("erased_") === true) continue;
    const known = persons.get(key);
    if (known === undefined || (known.name === null && person.name !== null)) {
      persons.set(key, person);
    }
  }
  return persons;
}
