import type { Storage } from "../../db/storage.ts";

import type { Booking, Passenger } from "../booking.ts";
import { newestSealed, sealedFrom } from "./personal-data.sql.ts";
import { keyIds, sealingKey } from "./personal-data.ts";

/** A key that sealed bookings and is not here. */
export interface LostKey {
  readonly keyId: string;
  /** One of the bookings. */
  readonly bookingId: Booking["id"];
}

const newest = 16;
const moments = 16;

/** What was looked at. */
export interface SealedKeys {
  /** Whether anything is sealed at all. */
  readonly isEmpty: boolean;
  readonly lost: readonly LostKey[];
}

/**
 * The keys that sealed bookings and are none of `keys`. Looks at the newest passengers, and at one each
 * at moments spread evenly from the oldest booking to the newest: some thirty look-ups by key however
 * many there are. So it finds a key that was in use for a sixteenth of that time, or that is in use now;
 * it can miss one of a shorter time, or of one instance among many.
 */
export async function sealedKeys(
  storage: Storage,
  keys: readonly Uint8Array[],
): Promise<SealedKeys> {
  const passengers = [...(await storage.all(newestSealed, { limit: newest }))];
  const [oldest] = await storage.all(sealedFrom, { bookingId: "bk_", limit: 1 });
  for (const bookingId of between(oldest, passengers[0])) {
    passengers.push(...(await storage.all(sealedFrom, { bookingId, limit: 1 })));
  }
  if (oldest !== undefined) passengers.push(oldest);
  const here = keyIds(keys);
  const lost = new Map(
    passengers
      .map((passenger) => ({ keyId: sealingKey(passenger), bookingId: passenger.bookingId }))
      .filter(({ keyId }) => !here.has(keyId))
      .map((one) => [one.keyId, one]),
  );
  return { isEmpty: passengers.length === 0, lost: [...lost.values()] };
}

type Place = Pick<Passenger, "bookingId">;

/** How many of an id's hex digits are the milliseconds of its making (RFC 9562, section 5.7). */
const timeDigits = 12;

/** Ids that bookings would have which were made at moments between these two. */
function between(oldest: Place | undefined, latest: Place | undefined): Booking["id"][] {
  const [from, to] = [oldest, latest].map((place) =>
    Number.parseInt(place?.bookingId.slice(3, 3 + timeDigits) ?? "", 16),
  );
  if (from === undefined || to === undefined || Number.isNaN(to - from)) return [];
  return Array.from({ length: moments - 1 }, (_, index) => {
    const time = Math.floor(from + ((to - from) * (index + 1)) / moments);
    return `bk_${time.toString(16).padStart(timeDigits, "0")}` as const;
  });
}
