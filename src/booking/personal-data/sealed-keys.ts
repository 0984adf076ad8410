import { keyIds, sealingKey } from "../../base/sealing.ts";
import type { Storage } from "../../db/storage.ts";
import type { Booking, Passenger } from "../model/booking.ts";

import { newestSealed, sealedFrom } from "./personal-data.sql.ts";

/** A missing key, which stored bookings are encrypted with. */
interface LostKey {
  readonly keyId: string;
  /** One of these bookings. */
  readonly bookingId: Booking["id"];
}

/** How many of the newest passengers are sampled. */
const newest = 16;
/** The number of intervals between the samples from the oldest booking to the newest. */
const moments = 16;

/** The result of the sample. */
interface SealedKeys {
  /** Whether the database has no passengers. */
  readonly isEmpty: boolean;
  readonly lost: readonly LostKey[];
}

/**
 * Finds keys that bookings are encrypted with and that are not among `keys`, from a sample: the newest
 * passengers, and one at each of several times spread evenly from the oldest booking to the newest. That is
 * about thirty look-ups by primary key, regardless of the number of bookings. It finds a key that is in use
 * now or was in use for a sixteenth of that time. It can miss a key that was in use for less time, or by one
 * of many instances.
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
      .map((passenger) => ({ keyId: sealingKey(passenger.sealed), bookingId: passenger.bookingId }))
      .filter(({ keyId }) => !here.has(keyId))
      .map((one) => [one.keyId, one]),
  );
  return { isEmpty: passengers.length === 0, lost: [...lost.values()] };
}

type Place = Pick<Passenger, "bookingId">;

/** The hex digits of an id that hold its creation time in milliseconds (RFC 9562 section 5.7). */
const timeDigits = 12;

/** Ids of hypothetical bookings, made at times spread evenly between these two. */
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
