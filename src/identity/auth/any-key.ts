import type { KeyObject } from "node:crypto";

import type { JWTVerifyOptions, JWTVerifyResult } from "jose";

/** The keys that are tried for one signature. */
export const maxCandidates = 16;

type Key = CryptoKey | KeyObject | Uint8Array;

/**
 * Verifies a token with one of the keys that fit it: a token may name none, and during a rotation several keys may have one id.
 * Throws an error of `jose`.
 */
export async function verifiedByAny(
  token: string,
  candidates: Iterable<Key> | AsyncIterable<Key>,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  // Loaded on first use: most providers send no tokens.
  const { errors, jwtVerify } = await import("jose");
  let tried = 0;
  for await (const key of candidates) {
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
    tried += 1;
    if (tried === maxCandidates) break;
  }
  throw new errors.JWSSignatureVerificationFailed();
}
