import type { Clock } from "../../base/clock.ts";
import {
  type Actor,
  isOperator,
  maxSubjectLength,
  openIdPrefix,
  type Verify,
} from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { isName } from "../../base/name.ts";
import type { Resolve } from "../../base/public-address.ts";
import { derivedKeys, type KeyRing, open, seal } from "../../base/sealing.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import { type ExternalTokens, jwksVerifier } from "../auth/jwks.ts";
import { rolesIn } from "../auth/role-claim.ts";
import { useOnce } from "../idempotency/idempotent.ts";

import {
  type Challenge,
  type Claims,
  type Issuer,
  issuerClient,
  type IssuerSettings,
} from "./issuer.ts";

/** How long the user may take at the issuer. */
export const attemptSeconds = 600;
/** How long a used sign-in is remembered after it expires: an instance whose clock is behind still accepts it. */
const usedKeptMs = 600_000;
const maxCookieLength = 4_096;
const maxNameLength = 200;

/** A sign-in that has begun. The browser keeps it, sealed, in a cookie. */
interface Attempt extends Challenge {
  /** The fragment of the console that was open; may be empty. */
  readonly place: string;
  /** The session that the sign-in replaces. */
  readonly replaced: string | null;
  readonly expiresAt: number;
}

/** Sign-in to the console by OpenID Connect. */
export interface Oidc {
  /** The issuer's host, shown to users. */
  readonly host: string;
  /** Begins a sign-in. Throws `unavailable`. */
  start(
    place: string,
    replaced: string | null,
  ): Promise<{ readonly location: string; readonly cookie: string }>;
  /**
   * Ends a sign-in, once. Throws `invalid-token`, `unavailable`, and `insufficient-scope` for users without a
   * role.
   */
  finish(cookie: string, parameters: URLSearchParams): Promise<SignedIn>;
  /** Verifies the issuer's access tokens. Throws `invalid-token` and `unavailable`. */
  readonly verify: Verify;
}

interface SignedIn {
  readonly actor: Actor;
  readonly place: string;
  readonly replaced: string | null;
}

interface Parts {
  readonly settings: IssuerSettings;
  readonly rolesClaim: string;
  /** What access tokens must have. */
  readonly accessTokens: Pick<ExternalTokens, "audience" | "types">;
  readonly keys: KeyRing;
  readonly resolve: Resolve;
  readonly storage: Storage;
  /** Called with the roles that a user has at the issuer now, before those without one are refused. */
  readonly noticed: (actor: Actor) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export function oidc({ settings, rolesClaim, storage, clock, log, ...parts }: Parts): Oidc {
  const issuer = issuerClient(settings, clock, parts.resolve);
  // Strangers can have any number of cookies sealed, and a key of AES-GCM is good for 2³² (NIST SP 800-38D, 8.3).
  const keys = derivedKeys(parts.keys, "skyhook oidc sign-in");
  // A code of one issuer or client is never sent to another (RFC 9700, 4.4), also after the settings changed.
  const { issuer: name, clientId, redirectUri } = settings;
  const sealedPlace = JSON.stringify([name, clientId, redirectUri]);

  /** Throws `invalid-token` if the sign-in was finished before, on any instance. */
  async function markUsed({ state, expiresAt }: Attempt): Promise<void> {
    const times = [new Date(clock.now()), new Date(expiresAt + usedKeptMs)] as const;
    await storage.atomically(useOnce("oidc-sign-in", state, times, unknownAttempt()));
  }

  async function actorOf(claims: Claims): Promise<Actor> {
    const { sub } = claims;
    if (sub.length > maxSubjectLength || !/^[ -~]+$/.test(sub)) {
      throw new AppError("invalid-token", `${issuer.host} sent an invalid subject.`);
    }
    const actor: Actor = { id: `${openIdPrefix}${sub}`, roles: rolesIn(claims, rolesClaim) };
    await parts.noticed(actor);
    if (isOperator({ actor })) return actor;
    const detail = `You are signed in at ${issuer.host} as ${nameIn(claims)}, but have no role for the console. Ask an administrator of ${issuer.host} for operator or admin in the claim ${rolesClaim}.`;
    throw new AppError("insufficient-scope", detail);
  }

  const expected = {
    ...parts.accessTokens,
    issuer: name,
    audienceClaim: "aud",
    rolesClaim,
    isAudienceFixed: true,
  } as const;
  return {
    host: issuer.host,
    verify: issuerTokens(issuer, expected, clock),
    async start(place, replaced) {
      const { challenge, location } = await issuer.challenge();
      const expiresAt = clock.now() + attemptSeconds * 1_000;
      const attempt: Attempt = { ...challenge, place, replaced, expiresAt };
      const sealed = seal(keys, sealedPlace, JSON.stringify(attempt));
      return { location, cookie: Buffer.from(sealed).toString("base64url") };
    },
    async finish(cookie, parameters) {
      const attempt = attemptIn(cookie, keys, sealedPlace);
      if (attempt === null || attempt.expiresAt <= clock.now()) throw unknownAttempt();
      try {
        const response = await issuer.respond(attempt, parameters);
        await markUsed(attempt);
        const { place, replaced } = attempt;
        return { actor: await actorOf(await response.exchange()), place, replaced };
      } catch (error) {
        log.warn(
          { issuer: issuer.host, error: reasonOf(error) },
          "sign-in by OpenID Connect failed",
        );
        throw error;
      }
    },
  };
}

function attemptIn(cookie: string, keys: KeyRing, sealedPlace: string): Attempt | null {
  if (cookie === "" || cookie.length > maxCookieLength) return null;
  try {
    const text = open(keys, sealedPlace, Buffer.from(cookie, "base64url"));
    // Guarantee: only `start` seals for this place.
    return text === null ? null : (JSON.parse(text) as Attempt);
  } catch {
    // Damaged, not made by this server, or for another issuer or client.
    return null;
  }
}

/** For the log: without the detail, which may contain a name. */
function reasonOf(error: unknown): string {
  if (!(error instanceof AppError)) return "internal";
  const { cause } = error.extras;
  return cause instanceof Error ? cause.message : error.code;
}

function unknownAttempt(): AppError {
  const detail =
    "This sign-in was finished before, has expired, or was begun in another browser or at another address than PUBLIC_URL. Sign in again.";
  return new AppError("invalid-token", detail);
}

/** What the user is called by; for the user only, never for the log. */
function nameIn({ email, preferred_username: username, sub }: Claims): string {
  const texts = [email, username].filter((value) => typeof value === "string");
  return texts.find((value) => isName(value, maxNameLength)) ?? sub;
}

/** Verifies access tokens of an OpenID provider. Its users have the ids that they have in the console. */
function issuerTokens(issuer: Issuer, expected: ExternalTokens, clock: Clock): Verify {
  let known: { readonly url: string; readonly verify: Verify } | null = null;
  return async (token) => {
    const url = await issuer.keysUrl();
    // The issuer's metadata may name other keys later.
    if (known?.url !== url) {
      known = { url, verify: jwksVerifier(url, expected, clock, issuer.fetch) };
    }
    const session = await known.verify(token);
    const { actor } = session;
    return { ...session, actor: { ...actor, id: `${openIdPrefix}${actor.id}` } };
  };
}
