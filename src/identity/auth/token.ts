import { jwt } from "@elysiajs/jwt";

import type { Clock } from "../../base/clock.ts";
import { type Actor, roles, type Session, type Verify } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";

/** Mints and checks access tokens: JWTs of the profile for OAuth 2.0 (RFC 9068). */
export interface Tokens {
  /** A signed token for `actor`, valid for `ttlSeconds` from now. */
  mint(actor: Actor, ttlSeconds: number): Promise<string>;
  /** The session that a token opens. Throws `invalid-token` without telling what is wrong with it. */
  readonly verify: Verify;
}

export interface TokenOptions {
  readonly key: Uint8Array;
  readonly issuer: string;
  readonly audience: string;
}

const algorithm = "HS256";
/** Clocks of two machines may differ by this much. */
export const skewSeconds = 30;
/** Longer tokens are not ours: they are not even decoded. */
export const maxTokenLength = 4_096;

export function tokens({ key, issuer, audience }: TokenOptions, clock: Clock): Tokens {
  const signer = jwt({
    secret: key,
    alg: algorithm,
    typ: "at+jwt",
    iss: issuer,
    aud: audience,
  }).decorator.jwt;
  return {
    mint({ id, roles: granted }, ttlSeconds) {
      const exp = Math.floor(clock.now() / 1_000) + ttlSeconds;
      return signer.sign({ sub: id, jti: crypto.randomUUID(), exp, roles: [...granted] });
    },
    async verify(token) {
      if (token.length > maxTokenLength) throw invalidToken();
      // Without these options any HMAC algorithm and tokens that never expire would pass.
      const claims: unknown = await signer.verify(token, {
        algorithms: [algorithm],
        typ: "at+jwt",
        issuer,
        audience,
        requiredClaims: ["exp", "iat", "jti", "sub"],
        clockTolerance: skewSeconds,
        currentDate: new Date(clock.now()),
      });
      const session = sessionOf(claims);
      if (session === null) throw invalidToken();
      return session;
    },
  };
}

/** The session that verified claims open; null when they do not say so in our way. */
export function sessionOf(claims: unknown): Session | null {
  if (typeof claims !== "object" || claims === null) return null;
  const { sub, exp, roles: granted = [] }: Claims = claims;
  if (typeof sub !== "string" || sub === "" || typeof exp !== "number") return null;
  if (!Array.isArray(granted)) return null;
  // As long as it verifies: a feed that ended before would be opened again, and end at once, for 30 s.
  const expiresAt = new Date((exp + skewSeconds) * 1_000);
  // JSON can write numbers that are no time: a token that ends then would never end.
  if (Number.isNaN(expiresAt.getTime())) return null;
  return { actor: { id: sub, roles: roles.filter((role) => granted.includes(role)) }, expiresAt };
}

interface Claims {
  readonly sub?: unknown;
  readonly exp?: unknown;
  readonly roles?: unknown;
}

/** Told of every bad token, whatever is wrong with it. */
export function invalidToken(): AppError {
  return new AppError("invalid-token", "The access token is not valid; get a new one");
}
