import { nodeCrypto } from "./crypto.ts";

/** Keys of 32 bytes. The first seals, all of them open, so that keys can be rotated. */
export type KeyRing = readonly [Uint8Array, ...Uint8Array[]];

/** A sealed value begins with the id of its key. */
export const keyIdBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = keyIdBytes + nonceBytes + tagBytes;

/**
 * Encrypts text with AES-256-GCM (NIST SP 800-38D). The result ("sealed") is key id (4 bytes), nonce (12), tag
 * (16), ciphertext. `place` is authenticated too, so that a value copied to another place cannot be opened.
 */
export function seal([current]: KeyRing, place: string, text: string): Uint8Array {
  const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
  const cipher = nodeCrypto().createCipheriv("aes-256-gcm", current, nonce);
  cipher.setAAD(Buffer.from(place));
  const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([keyId(current), nonce, cipher.getAuthTag(), sealed]);
}

/** Opens what `seal` returned. Returns null if the key is not among `keys`. Throws if the value is damaged. */
export function open(
  keys: readonly Uint8Array[],
  place: string,
  sealed: Uint8Array,
): string | null {
  const bytes = Buffer.from(sealed);
  const id = sealingKey(bytes);
  const key = keys.find((candidate) => keyId(candidate).toString("hex") === id);
  if (key === undefined) return null;
  const nonce = bytes.subarray(keyIdBytes, keyIdBytes + nonceBytes);
  const decipher = nodeCrypto().createDecipheriv("aes-256-gcm", key, nonce, {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(place));
  decipher.setAuthTag(bytes.subarray(keyIdBytes + nonceBytes, headBytes));
  return Buffer.concat([decipher.update(bytes.subarray(headBytes)), decipher.final()]).toString();
}

/** Keys for one purpose, derived from the ring's keys in the same order (HKDF, RFC 5869). */
export function derivedKeys([current, ...previous]: KeyRing, purpose: string): KeyRing {
  const derived = (key: Uint8Array) =>
    new Uint8Array(nodeCrypto().hkdfSync("sha256", key, "", purpose, 32));
  return [derived(current), ...previous.map(derived)];
}

/** The id of the key that sealed a value, in hexadecimal. */
export function sealingKey(sealed: Uint8Array): string {
  return Buffer.from(sealed).subarray(0, keyIdBytes).toString("hex");
}

/** The ids of keys, as `sealingKey` returns them. */
export function keyIds(keys: readonly Uint8Array[]): ReadonlySet<string> {
  return new Set(keys.map((key) => keyId(key).toString("hex")));
}

function keyId(key: Uint8Array): Buffer {
  return new Bun.CryptoHasher("sha256").update(key).digest().subarray(0, keyIdBytes);
}

/** Data is sealed with a key that is missing. The message is for operators and says what to do. */
export class MissingKeyError extends Error {
  override readonly name = "MissingKeyError";
}

/** The message for operators about data that is sealed with a key not among `keys`. */
export function missingKey(what: string, key: string, keys: readonly Uint8Array[]): string {
  // Without any key, the missing key becomes the current one again.
  const name = keys.length === 0 ? "personal_data_key" : "personal_data_key_previous";
  return `${what} encrypted with key ${key}, which is missing: restore it as ${name.toUpperCase()} (or as the file ${name} in SECRETS_DIR or DATA_DIR)`;
}
