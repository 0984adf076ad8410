/** The prefix of a secret in text form (Standard Webhooks, "Signature scheme"). */
const secretPrefix = "whsec_";

/** The key of a secret in its text form, `whsec_` and base64. */
export function keyOf(secret: string): Uint8Array {
  return Buffer.from(secret.slice(secretPrefix.length), "base64");
}

/** Makes a secret of 32 random bytes. */
export function makeSecret(): string {
  return secretOf(crypto.getRandomValues(new Uint8Array(32)));
}

/** The text form of a key. */
export function secretOf(key: Uint8Array): string {
  return `${secretPrefix}${key.toBase64()}`;
}

/**
 * The headers that sign a body, one signature per key, so that a receiver may hold either during a rotation
 * (Standard Webhooks, "Webhook headers"). `id`: the same for every attempt.
 */
export function signedHeaders(
  keys: readonly Uint8Array[],
  id: string,
  atMs: number,
  body: string | Uint8Array,
) {
  const seconds = Math.floor(atMs / 1_000);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": keys.map((key) => standardSignature(key, id, seconds, body)).join(" "),
  };
}

/** `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` (Standard Webhooks, "Signature scheme"). */
export function standardSignature(
  key: Uint8Array,
  id: string,
  seconds: number,
  body: string | Uint8Array,
): string {
  const mac = new Bun.CryptoHasher("sha256", key).update(`${id}.${seconds}.`).update(body);
  return `v1,${mac.digest("base64")}`;
}
