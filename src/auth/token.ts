import { jwt } from "@elysiajs/jwt";

import type { Clock } from "../clock.ts";
import { type Actor, type Role, roles } from "../context.ts";
import { AppError } from "../errors.ts";

/** Mints and checks access tokens: JWTs of the profile for OAuth 2.0 (RFC 9068). */
export interface Tokens {
  /** A signed token for `actor`, valid for `ttlSeconds` from now. */
  mint(actor: Actor, ttlSeconds: number): Promise<string>;
  /** The bearer of a token. Throws `invalid-token` without telling what is wrong with it. */
  verify(token: string): Promise<Actor>;
}

export interface TokenOptions {
  readonly key: Uint8Array;
  readonly issuer: string;
  readonly audience: string;
}

const algorithm = "HS256";
/** Clocks of two machines may differ by this much. */
const skewSeconds = 30;
/** Longer tokens are not ours: they are not even decoded. */
const maxTokenLength = 4_096;

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
      const actor = actorOf(claims);
      if (actor === null) throw invalidToken();
      return actor;
    },
  };
}

function actorOf(claims: unknown): Actor | null {
  if (typeof claims !== "object" || claims === null) return null;
  const { sub, roles: granted = [] }: { sub?: unknown; roles?: unknown } = claims;
  if (typeof sub !== "string" || sub === "" || !Array.isArray(granted)) return null;
  return { id: sub, roles: roles.filter((role: Role) => granted.includes(role)) };
}

function invalidToken(): AppError {
  return new AppError("invalid-token", "The access token is not valid; get a new one");
}
