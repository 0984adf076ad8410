/** Compares bytes of equal length in a time that does not depend on their content. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && crypto.timingSafeEqual(one, other);
}

/** Compares texts of any length. The time reveals neither content nor length: digests are compared. */
export function sameText(one: string | Uint8Array, other: string | Uint8Array): boolean {
  return sameBytes(digest(one), digest(other));
}

function digest(text: string | Uint8Array): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}
