import {
  derivedKeys,
  type KeyRing,
  missingKey,
  MissingKeyError,
  open,
  seal,
  sealingKey,
} from "../../base/sealing.ts";
import type { Passenger, PersonalData } from "../model/booking.ts";

/** Seals a passenger's birth date and passport number for their place in one booking. */
export interface PersonalDataSeal extends PersonalDataOpener {
  seal(place: Place, data: PersonalData): Uint8Array;
}

export interface PersonalDataOpener {
  /** Throws a `MissingKeyError` if the key is not in the ring, another error if the data is damaged. */
  open(passenger: Place & Pick<Passenger, "sealed">): PersonalData;
}

type Place = Pick<Passenger, "bookingId" | "position">;

/** `keys`: the first seals, and all open. */
export function personalDataSeal(keys: KeyRing): PersonalDataSeal {
  return {
    ...personalDataOpener(keys),
    seal: (place, data) => seal(keys, textOf(place), JSON.stringify(data)),
  };
}

/** `keys`: as for `personalDataSeal`, but may be empty. */
export function personalDataOpener(keys: readonly Uint8Array[]): PersonalDataOpener {
  return {
    open({ sealed, ...place }) {
      const text = open(keys, textOf(place), sealed);
      if (text === null) {
        const what = `booking ${place.bookingId} is`;
        throw new MissingKeyError(missingKey(what, sealingKey(sealed), keys));
      }
      // Guarantee: the tag proves that this text is what `seal` wrote, which is PersonalData.
      return JSON.parse(text) as PersonalData;
    },
  };
}

function textOf({ bookingId, position }: Place): string {
  return `${bookingId}/${position}`;
}

/**
 * Keys for hashes of requests that hold personal data. An unkeyed hash would allow a brute-force search for the
 * few digits of a passport number.
 */
export function requestHashKeys(keys: KeyRing): KeyRing {
  return derivedKeys(keys, "skyhook idempotency");
}

/** Five stars, whatever the length, and at most the last four characters, but never more than a third of them. */
export function maskedPassport(passportNumber: string): string {
  const shown = Math.min(4, Math.floor(passportNumber.length / 3));
  return `*****${passportNumber.slice(passportNumber.length - shown)}`;
}
