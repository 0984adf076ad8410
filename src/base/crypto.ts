import { lazy } from "./lazy.ts";

/** `node:crypto`, loaded on first use: loading takes half as long as the whole startup of a bare server. */
export const nodeCrypto = lazy(() => process.getBuiltinModule("node:crypto"));

/** The hash of a text, in hex. */
export function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** 43 random characters. A plain hash of them, which is what is stored, cannot be searched. */
export function makeSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

export const isSecret = (text: string): boolean => /^[\w-]{43}$/.test(text);

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
