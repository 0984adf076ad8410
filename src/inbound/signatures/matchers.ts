import type { KeyObject, VerifyKeyObjectInput } from "node:crypto";

import { nodeCrypto, sameBytes } from "../../base/crypto.ts";

import { secretKey } from "./keys.ts";
import type { HmacScheme, PublicKeyScheme } from "./scheme.schema.ts";
import type { Piece } from "./signed-text.ts";

/** Whether one of the signatures is that of a text. Tries all of them, without an early exit. */
export type Matches = (pieces: readonly Piece[], signatures: readonly Buffer[]) => boolean;

/** Prepares the key once; each text costs a copy of its state. */
export function macMatcher({ algorithm, secretEncoding }: HmacScheme, secret: string): Matches {
  const keyed = new Bun.CryptoHasher(algorithm, secretKey(secret, secretEncoding));
  return (pieces, signatures) => {
    const hasher = keyed.copy();
    for (const piece of pieces) hasher.update(piece);
    const mac = hasher.digest();
    let matches = false;
    for (const signature of signatures) {
      if (sameBytes(mac, signature)) matches = true;
    }
    return matches;
  };
}

/** Checks signatures with a public key, which is no secret: timing reveals nothing. */
export function keyMatcher(scheme: PublicKeyScheme, key: KeyObject): Matches {
  const { verify } = nodeCrypto();
  const algorithm = hashOf(scheme);
  const input = keyInput(scheme, key);
  return (pieces, signatures) => {
    const text = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    return signatures.some((signature) => verify(algorithm, text, input, signature));
  };
}

/** Null for Ed25519, which hashes by itself. */
export function hashOf(scheme: PublicKeyScheme): string | null {
  if (scheme.kind === "ed25519") return null;
  return scheme.kind === "ecdsa-p256" ? "sha256" : scheme.algorithm;
}

const hashBytes = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;

/** The key with the options that sign and verify alike. */
export function keyInput(scheme: PublicKeyScheme, key: KeyObject): VerifyKeyObjectInput {
  const { constants } = nodeCrypto();
  switch (scheme.kind) {
    case "ed25519":
      return { key };
    case "ecdsa-p256":
      return { key, dsaEncoding: scheme.format };
    case "rsa-pkcs1":
      return { key, padding: constants.RSA_PKCS1_PADDING };
    case "rsa-pss":
      return {
        key,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: hashBytes[scheme.algorithm],
      };
  }
}
