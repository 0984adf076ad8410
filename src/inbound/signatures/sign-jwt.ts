import { nodeCrypto } from "../../base/node-crypto.ts";

import { secretKey, type SigningKey } from "./keys.ts";
import type { JwtScheme } from "./scheme.schema.ts";
import { isSymmetric } from "./scheme.ts";

/** How long a token is valid. */
const validSeconds = 300;

/**
 * Makes a token as the service would (RFC 7515 section 3.1). If the token is the body, `bytes` are its claims
 * as JSON; else it holds their hash.
 */
export function signedToken(
  scheme: JwtScheme,
  key: SigningKey,
  bytes: Uint8Array,
  atMs: number,
): string {
  const { algorithms, bodyHash, issuer, audience } = scheme;
  const [alg = ""] = algorithms;
  const iat = Math.floor(atMs / 1_000);
  const claims = {
    ...(bodyHash === undefined ? claimsIn(bytes) : { [bodyHash.claim]: hashOf(bodyHash, bytes) }),
    iat,
    exp: iat + validSeconds,
    ...(issuer !== undefined && { iss: issuer }),
    ...(audience !== undefined && { aud: audience.replace("{secret}", () => key.secret) }),
  };
  const text = `${part({ alg, typ: "JWT" })}.${part(claims)}`;
  return `${text}.${signatureOf(scheme, alg, key, text)}`;
}

function claimsIn(bytes: Uint8Array): object {
  return Object(JSON.parse(Buffer.from(bytes).toString()));
}

function hashOf(
  { algorithm, encoding }: NonNullable<JwtScheme["bodyHash"]>,
  bytes: Uint8Array,
): string {
  return new Bun.CryptoHasher(algorithm).update(bytes).digest().toString(encoding);
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function signatureOf(scheme: JwtScheme, alg: string, key: SigningKey, text: string): string {
  const { createHmac, sign, constants } = nodeCrypto();
  const hash = alg === "EdDSA" ? null : `sha${alg.slice(2)}`;
  if (isSymmetric(scheme)) {
    const secret = secretKey(key.secret, scheme.secretEncoding);
    return createHmac(hash ?? "", secret)
      .update(text)
      .digest("base64url");
  }
  if (key.privateKey === undefined)
    throw new Error("Only the service can sign: its key is private");
  const input = {
    key: key.privateKey,
    dsaEncoding: "ieee-p1363",
    ...(alg.startsWith("PS") && {
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: Number(alg.slice(2)) / 8,
    }),
  } as const;
  return sign(hash, Buffer.from(text), input).toString("base64url");
}
