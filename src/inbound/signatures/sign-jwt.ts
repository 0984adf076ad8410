import { nodeCrypto } from "../../base/crypto.ts";
import { parseJson } from "../../base/json.ts";

import { requiredClaim } from "./jwt.ts";
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
  { bytes, url }: { readonly bytes: Uint8Array; readonly url: string },
  atMs: number,
): string {
  const { algorithms, issuer, audience, claims: required = {} } = scheme;
  const [alg = ""] = algorithms;
  const iat = Math.floor(atMs / 1_000);
  const claims = {
    ...bodyClaims(scheme, bytes),
    iat,
    exp: iat + validSeconds,
    ...(issuer !== undefined && { iss: issuer }),
    ...(audience !== undefined && { aud: requiredClaim(audience, key.secret, url) }),
    ...Object.fromEntries(
      Object.entries(required).map(([name, value]) => [
        name,
        typeof value === "string" ? requiredClaim(value, key.secret, url) : value,
      ]),
    ),
  };
  const text = `${part({ alg, typ: "JWT" })}.${part(claims)}`;
  return `${text}.${signatureOf(scheme, alg, key, text)}`;
}

/** What the token says of the body: all of it, its hash, or nothing. */
function bodyClaims({ bodyHash }: JwtScheme, bytes: Uint8Array): object {
  if (bodyHash === undefined) return Object(parseJson(Buffer.from(bytes).toString()));
  if (bodyHash === "none") return {};
  const { claim, algorithm, encoding } = bodyHash;
  return { [claim]: new Bun.CryptoHasher(algorithm).update(bytes).digest().toString(encoding) };
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
