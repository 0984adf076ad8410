import { nodeCrypto } from "../../base/node-crypto.ts";

import type { Passenger, PersonalData } from "../booking.ts";

/**
 * Encrypts a passenger's birth date and passport number with AES-256-GCM (NIST SP 800-38D). The result
 * ("sealed") is key id (4 bytes), nonce (12), tag (16), ciphertext. Booking id and position are authenticated
 * too, so that a value copied to another booking or passenger cannot be decrypted.
 */
export interface PersonalDataSeal extends PersonalDataOpener {
  seal(place: Place, data: PersonalData): Uint8Array;
}

export interface PersonalDataOpener {
  /** Decrypts. Throws a `MissingKeyError` if the key is not in the ring, another error if the data is damaged. */
  open(passenger: Place & Pick<Passenger, "sealed">): PersonalData;
}

type Place = Pick<Passenger, "bookingId" | "position">;

/** A sealed value begins with the id of its key. */
export const keyIdBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = keyIdBytes + nonceBytes + tagBytes;

/** Data is encrypted with a key that is missing. The message is for operators and says what to do. */
export class MissingKeyError extends Error {
  override readonly name = "MissingKeyError";
}

/** The message for operators about data that is encrypted with a key not among `keys`. */
export function missingKey(what: string, key: string, keys: readonly Uint8Array[]): string {
  // Without any key, the missing key becomes the current one again.
  const name = keys.length === 0 ? "personal_data_key" : "personal_data_key_previous";
  return `${what} encrypted with key ${key}, which is missing: restore it as ${name.toUpperCase()} (or as the file ${name} in SECRETS_DIR or DATA_DIR)`;
}

/** The first key seals, all of them open. */
export type KeyRing = readonly [Uint8Array, ...Uint8Array[]];

/** `keys`: 32 bytes each. The first encrypts, and all decrypt, so that keys can be rotated. */
export function personalDataSeal(keys: KeyRing): PersonalDataSeal {
  const [current] = keys;
  return {
    ...personalDataOpener(keys),
    seal(place, data) {
      const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const cipher = nodeCrypto().createCipheriv("aes-256-gcm", current, nonce);
      cipher.setAAD(placeBytes(place));
      const text = Buffer.concat([cipher.update(JSON.stringify(data)), cipher.final()]);
      return Buffer.concat([keyId(current), nonce, cipher.getAuthTag(), text]);
    },
  };
}

/** `keys`: as for `personalDataSeal`, but may be empty. */
export function personalDataOpener(keys: readonly Uint8Array[]): PersonalDataOpener {
  const ring = new Map(keys.map((key) => [keyId(key).toString("hex"), key]));
  return {
    open({ sealed, ...place }) {
      const bytes = Buffer.from(sealed);
      const id = sealingKey({ sealed });
      const key = ring.get(id);
      if (key === undefined) {
        throw new MissingKeyError(missingKey(`booking ${place.bookingId} is`, id, keys));
      }
      const nonce = bytes.subarray(keyIdBytes, keyIdBytes + nonceBytes);
      const decipher = nodeCrypto().createDecipheriv("aes-256-gcm", key, nonce, {
        authTagLength: tagBytes,
      });
      decipher.setAAD(placeBytes(place));
      decipher.setAuthTag(bytes.subarray(keyIdBytes + nonceBytes, headBytes));
      const text = Buffer.concat([decipher.update(bytes.subarray(headBytes)), decipher.final()]);
      // Guarantee: the tag proves that these bytes are what `seal` wrote, which is PersonalData.
      return JSON.parse(text.toString()) as PersonalData;
    },
  };
}

/** The id of the key that encrypted the value. */
export function sealingKey({ sealed }: Pick<Passenger, "sealed">): string {
  return Buffer.from(sealed).subarray(0, keyIdBytes).toString("hex");
}

/** The ids of keys, as `sealingKey` returns them. */
export function keyIds(keys: readonly Uint8Array[]): ReadonlySet<string> {
  return new Set(keys.map((key) => keyId(key).toString("hex")));
}

function placeBytes({ bookingId, position }: Place): Buffer {
  return Buffer.from(`${bookingId}/${position}`);
}

function keyId(key: Uint8Array): Buffer {
  return new Bun.CryptoHasher("sha256").update(key).digest().subarray(0, keyIdBytes);
}

/**
 * Keys for hashes of requests that hold personal data, derived from the ring's keys in the same order (HKDF,
 * RFC 5869). An unkeyed hash would allow a brute-force search for the few digits of a passport number.
 */
export function requestHashKeys([current, ...previous]: KeyRing): KeyRing {
  return [requestHashKey(current), ...previous.map(requestHashKey)];
}

function requestHashKey(key: Uint8Array): Uint8Array {
  return new Uint8Array(nodeCrypto().hkdfSync("sha256", key, "", "skyhook idempotency", 32));
}

/** Masks a passport number except for its last four characters. */
export function maskedPassport(passportNumber: string): string {
  return passportNumber.slice(-4).padStart(passportNumber.length, "*");
}
