import { jwt } from "@elysiajs/jwt";
import { decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from "jose";

import type { Clock } from "../../base/clock.ts";
import {
  type Actor,
  maxSubjectLength,
  type Role,
  roles,
  type Session,
  type Verify,
} from "../../base/context.ts";
import { sha256 } from "../../base/crypto.ts";

import { invalidToken, refusalOf, TokenRefusal } from "./refusal.ts";

/** Issues and verifies access tokens: JWTs in the OAuth 2.0 profile (RFC 9068). */
export interface Tokens {
  /** Signs a token for `actor`, valid for `ttlSeconds` from now. */
  mint(actor: Actor, ttlSeconds: number): Promise<string>;
  /** Returns a token's session. Throws `invalid-token`, without the reason. */
  readonly verify: Verify;
}

export interface TokenOptions {
  readonly key: Uint8Array;
  readonly issuer: string;
  readonly audience: string;
}

const algorithm = "HS256";
const typ = "at+jwt";
/** The tolerated difference between the clocks of two machines. */
export const skewSeconds = 30;
const refuse = (error: unknown): never => {
  throw invalidToken(refusalOf(error));
};

/** Longer tokens are rejected without decoding them. */
export const maxTokenLength = 4_096;
export const tooLong = new TokenRefusal("form", `it is longer than ${maxTokenLength} characters`);
export const badSubject = new TokenRefusal(
  "subject",
  `its sub is empty or has more than ${maxSubjectLength} characters, or its other claims have wrong types`,
);

export function tokens({ key, issuer, audience }: TokenOptions, clock: Clock): Tokens {
  const verifier = jwt({ secret: key, alg: algorithm }).decorator.jwt;
  return {
    mint({ id, roles: granted }, ttlSeconds) {
      const now = Math.floor(clock.now() / 1_000);
      // The plugin's `iat` is of the system's clock. Revocations compare it with this one.
      return new SignJWT({ roles: [...granted] })
        .setProtectedHeader({ alg: algorithm, typ })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(id)
        .setJti(crypto.randomUUID())
        .setIssuedAt(now)
        .setExpirationTime(now + ttlSeconds)
        .sign(key);
    },
    async verify(token) {
      if (token.length > maxTokenLength) throw invalidToken(tooLong);
      // Without these options, `verify` accepts any HMAC algorithm, and tokens that never expire.
      const options = {
        algorithms: [algorithm],
        typ,
        issuer,
        audience,
        requiredClaims: ["exp", "iat", "jti", "sub"],
        clockTolerance: skewSeconds,
        currentDate: new Date(clock.now()),
      };
      const claims: unknown = await verifier.verify(token, options);
      // The plugin keeps its library's error to itself.
      if (claims === false) await jwtVerify(token, key, options).catch(refuse);
      const session = sessionOf(claims);
      if (session === null) throw invalidToken(badSubject);
      return { ...session, token: tokenHash(token) };
    },
  };
}

/** Of what is signed: the same token with another encoding of its signature has the same. */
export function tokenHash(token: string): string {
  return sha256(token.slice(0, token.lastIndexOf(".")));
}

/** The session in verified claims of Skyhook's own token; null if required claims are missing or malformed. */
export function sessionOf(claims: unknown): Session | null {
  if (typeof claims !== "object" || claims === null) return null;
  const { roles: granted = [] }: Claims = claims;
  if (!Array.isArray(granted)) return null;
  return sessionWith(
    claims,
    roles.filter((role) => granted.includes(role)),
  );
}

/** The session in verified claims, with these roles; null if required claims are missing or malformed. */
export function sessionWith({ sub, exp, iat }: Claims, granted: readonly Role[]): Session | null {
  if (typeof sub !== "string" || sub === "" || typeof exp !== "number") return null;
  // PostgreSQL stores no NUL, and indexes no text of several kilobytes.
  if (sub.length > maxSubjectLength || /\p{Cc}/u.test(sub)) return null;
  // Includes the skew, as `verify` does. A feed that ended at `exp` would reconnect with the same token, which is
  // still accepted, and end again at once, for 30 s.
  const expiresAt = new Date((exp + skewSeconds) * 1_000);
  // `exp` can be a number beyond all dates. Such a token would never expire.
  if (Number.isNaN(expiresAt.getTime())) return null;
  const issuedAt = new Date(typeof iat === "number" ? iat * 1_000 : 0);
  return { actor: { id: sub, roles: granted }, expiresAt, issuedAt };
}

interface Claims {
  readonly sub?: unknown;
  readonly exp?: unknown;
  readonly iat?: unknown;
  readonly roles?: unknown;
}

/** The claims of a verified token. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  return decodeJwt(token);
}

/** Whether a token may be Skyhook's own: issuers sign with keys that they publish. Also true for what is no token. */
export function isSignedWithSecret(token: string): boolean {
  try {
    return decodeProtectedHeader(token).alg === algorithm;
  } catch {
    return true;
  }
}
