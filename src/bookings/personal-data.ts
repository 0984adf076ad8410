import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

import type { Passenger, PersonalData } from "./booking.ts";

/**
 * Seals what identifies a passenger with AES-256-GCM (NIST SP 800-38D). A sealed value is
 * key id (4 bytes), nonce (12), tag (16), cipher text. It is bound to its place: moved to another
 * booking or seat it does not open.
 */
export interface PersonalDataSeal {
  seal(place: Place, data: PersonalData): Uint8Array;
  /** Throws when no key of the ring opens it. */
  open(passenger: Place & Pick<Passenger, "sealed">): PersonalData;
}

type Place = Pick<Passenger, "bookingId" | "position">;

const keyIdBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = keyIdBytes + nonceBytes + tagBytes;

/** `keys`: 32 bytes each. The first seals; all of them open, so a key can be rotated. */
export function personalDataSeal(keys: readonly [Uint8Array, ...Uint8Array[]]): PersonalDataSeal {
  const ring = new Map(keys.map((key) => [keyId(key).toString("hex"), key]));
  const [current] = keys;
  return {
    seal(place, data) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", current, nonce);
      cipher.setAAD(placeBytes(place));
      const text = Buffer.concat([cipher.update(JSON.stringify(data)), cipher.final()]);
      return Buffer.concat([keyId(current), nonce, cipher.getAuthTag(), text]);
    },
    open({ sealed, ...place }) {
      const bytes = Buffer.from(sealed);
      const id = bytes.subarray(0, keyIdBytes).toString("hex");
      const key = ring.get(id);
      if (key === undefined) throw new Error(`No key of the ring has the id ${id}`);
      const nonce = bytes.subarray(keyIdBytes, keyIdBytes + nonceBytes);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(placeBytes(place));
      decipher.setAuthTag(bytes.subarray(keyIdBytes + nonceBytes, headBytes));
      const text = Buffer.concat([decipher.update(bytes.subarray(headBytes)), decipher.final()]);
      // Guarantee: the tag proves that these bytes are what `seal` wrote, which is PersonalData.
      return JSON.parse(text.toString()) as PersonalData;
    },
  };
}

function placeBytes({ bookingId, position }: Place): Buffer {
  return Buffer.from(`${bookingId}/${position}`);
}

function keyId(key: Uint8Array): Buffer {
  return new Bun.CryptoHasher("sha256").update(key).digest().subarray(0, keyIdBytes);
}

/**
 * A key for hashes of requests that hold personal data, derived from the first of the ring (HKDF, RFC
 * 5869): an unkeyed hash could be searched for the few digits of a passport number.
 */
export function requestHashKey([current]: readonly [Uint8Array, ...Uint8Array[]]): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", current, "", "skyhook idempotency", 32));
}

/** A passport number as it may be shown: its last four characters. */
export function maskedPassport(passportNumber: string): string {
  return passportNumber.slice(-4).padStart(passportNumber.length, "*");
}
