import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { changedMeanwhile } from "../../inbound/receive/effects.ts";
import type { Log } from "../../telemetry/log.ts";
import type { BookingChange } from "../model/booking-change.ts";
import type { Flight } from "../model/flight.ts";
import type { EndExpired } from "../seats/hold-expiry.ts";

import { endingOf } from "./change-making.ts";
import { openChangesOf } from "./changes.sql.ts";
import { deleteOutdatedHolds, giveOutdatedBack, withdrawOutdated } from "./outdated-offers.sql.ts";

interface Parts {
  readonly storage: Storage;
  readonly log: Log;
  readonly seatsChanged: (flightId: Flight["id"]) => void;
}

/** Ends offers that were not confirmed or paid in time. */
export const endExpiredOffers =
  (parts: Parts): EndExpired =>
  async (ids, now) => {
    const offers = await parts.storage.all(openChangesOf, { ids });
    return Promise.all(offers.map((offer) => endOffer(parts, offer, now)));
  };

/** Ends one offer. Returns false if it was confirmed, paid or withdrawn. */
async function endOffer(
  { storage, log, seatsChanged }: Parts,
  offer: BookingChange,
  now: Date,
): Promise<boolean> {
  if (offer.expiresAt > now) return false;
  const { writes, flightId } = endingOf(offer, "expired", now);
  try {
    await storage.atomically(...writes);
  } catch (error) {
    if (error !== changedMeanwhile) throw error;
    return false;
  }
  log.info({ id: offer.id, bookingId: offer.bookingId }, "offer to change a booking expired");
  if (flightId !== null) seatsChanged(flightId);
  return true;
}

/**
 * The writes that end the offers from or to flights that an import has changed in the same transaction: their times or their price
 * may be wrong now.
 */
export function endOutdatedOffers(
  flightIds: readonly Flight["id"][],
  now: Date,
): readonly Write<unknown>[] {
  if (flightIds.length === 0) return [];
  return [
    write(giveOutdatedBack, { flightIds }),
    write(deleteOutdatedHolds, { flightIds }),
    write(withdrawOutdated, { flightIds, updatedAt: now }),
  ];
}
