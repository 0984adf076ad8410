import type { Clock } from "../base/clock.ts";
import type { Actor, Verify } from "../base/context.ts";
import { systemResolve } from "../base/public-address.ts";
import type { Config } from "../config/config.ts";
import { tokenKey } from "../config/secrets.ts";
import { audit } from "../identity/audit/audit.ts";
import { clients } from "../identity/auth/clients.ts";
import { consoleCodes } from "../identity/auth/console-codes.ts";
import { jwksVerifier } from "../identity/auth/jwks.ts";
import { loggedRefusals, unlessEnded } from "../identity/auth/refusal.ts";
import { rememberedSessions } from "../identity/auth/remembered-sessions.ts";
import { isSignedWithSecret, tokens } from "../identity/auth/token.ts";
import {
  callLimiter,
  failureLimiter,
  requestLimiter,
  revocationLimiter,
  testLimiter,
  workLimiter,
  writeLimiter,
} from "../identity/limiter.ts";
import { type Oidc, oidc } from "../identity/oidc/oidc.ts";
import { agentSignIn, mcpPath } from "../identity/sessions/agent-sign-in.ts";
import { keySignIn } from "../identity/sessions/key-sign-in.ts";
import { revocations } from "../identity/sessions/revocations.ts";
import { sessions } from "../identity/sessions/sessions.ts";
import { storedTokens } from "../identity/sessions/stored-tokens.ts";
import { endedAccess } from "../identity/users/ended-access.ts";
import { users } from "../identity/users/users.ts";

import type { Platform } from "./platform.ts";

export type IdentityServices = ReturnType<typeof identityServices>;

export function identityServices(platform: Platform) {
  const { config, storage, clock, makeId, log } = platform;
  const key = tokenKey(config.jwtSecret, config.dataDir);
  const issuing = { key, issuer: config.jwtIssuer, audience: config.jwtAudience };
  const minting = tokens(issuing, clock);
  const audited = audit(storage, clock, makeId, writeLimiter(clock));
  const ended = endedAccess(storage, clock);
  const signIn = openIdConnect(platform, (actor) => ending.keepWithin({ actor }));
  const external = externalVerifier(config, clock);
  const verify = external === null ? minting.verify : noticing(external);
  const accepted = rememberedSessions(verify, clock);
  const acceptedOfAgents = agentVerifier(platform, accepted, signIn, noticing);
  const stored = storedTokens(storage, audited, clock, makeId, log);
  const agentAccess = unlessEnded(
    agentSignIn(stored, acceptedOfAgents, config.mcpAllow ?? []),
    ended,
  );
  const ending = revocations({
    storage,
    audit: audited,
    ended,
    limiter: revocationLimiter(clock),
    clock,
    verifiers: [...new Set([accepted, acceptedOfAgents])],
  });
  /** Compares the roles in tokens of an identity provider with those of stored sessions. Those in our own tokens prove nothing. */
  function noticing(verifyExternal: Verify): Verify {
    return async (token) => {
      const session = await verifyExternal(token);
      await ending.keepWithin(session);
      return session;
    };
  }
  return {
    tokens: minting,
    /** Verifies API keys, and Skyhook's tokens or, if configured, those of an identity provider. */
    verify: loggedRefusals(unlessEnded(keySignIn(stored, accepted), ended), log, clock),
    clients: clients(storage, minting, clock, makeId),
    consoleCodes: consoleCodes(issuing, storage, clock),
    limiter: failureLimiter(clock),
    /** Of failed sign-ins by OpenID Connect, which must not block an address's webhooks. */
    signInLimiter: failureLimiter(clock),
    tests: testLimiter(clock),
    calls: callLimiter(clock),
    work: workLimiter(clock),
    requestLimits: requestLimiter(clock),
    users: users(storage, clock, config.usersAccess),
    ended,
    revocations: ending,
    audit: audited,
    sessions: sessions(storage, audited, clock, makeId),
    storedTokens: stored,
    /** Verifies tokens at `/mcp`. */
    agentSignIn: loggedRefusals(agentAccess, log, clock),
    /** The issuer at which agents sign in; null if there is none but this server. */
    agentIssuer: issuerFor(config),
    oidc: signIn,
  };
}

/** Verifies tokens of the configured identity provider; null if none is. */
export function externalVerifier(config: Config, clock: Clock): Verify | null {
  const { jwksUrl, jwtIssuer: issuer, jwtAudience: audience, jwtTypes: types } = config;
  const { jwtAudienceClaim: audienceClaim, jwtRolesClaim: rolesClaim } = config;
  if (jwksUrl === null) return null;
  return jwksVerifier(jwksUrl, { issuer, audience, types, audienceClaim, rolesClaim }, clock);
}

/**
 * Verifies access tokens at `/mcp`. Those of an issuer must be for its URL (RFC 8707); without PUBLIC_URL, which is
 * needed to know it, those for the API are accepted.
 */
function agentVerifier(
  { config, clock }: Platform,
  accepted: Verify,
  issuer: Oidc | null,
  noticing: (verify: Verify) => Verify,
): Verify {
  const { jwksUrl, publicUrl, jwtIssuer, jwtTypes: types, jwtRolesClaim: rolesClaim } = config;
  const audience = `${publicUrl}${mcpPath}`;
  if (jwksUrl !== null) {
    if (publicUrl === null) return accepted;
    const fixed = { audienceClaim: "aud", isAudienceFixed: true } as const;
    const expected = { issuer: jwtIssuer, audience, types, rolesClaim, ...fixed };
    return rememberedSessions(noticing(jwksVerifier(jwksUrl, expected, clock)), clock);
  }
  if (issuer === null) return accepted;
  const issued = rememberedSessions(noticing(issuer.verify), clock);
  return (token) => (isSignedWithSecret(token) ? accepted(token) : issued(token));
}

function issuerFor({ jwksUrl, jwtIssuer, oidcIssuer }: Config): string | null {
  if (jwksUrl === null) return oidcIssuer;
  return URL.canParse(jwtIssuer) ? jwtIssuer : null;
}

function openIdConnect(
  { config, keys, storage, clock, log }: Platform,
  noticed: (actor: Actor) => Promise<void>,
): Oidc | null {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcRolesClaim, publicUrl } = config;
  if (oidcIssuer === null) return null;
  return oidc({
    settings: {
      issuer: oidcIssuer,
      clientId: oidcClientId ?? "",
      clientSecret: oidcClientSecret ?? "",
      redirectUri: `${publicUrl}/console/oidc/callback`,
    },
    rolesClaim: oidcRolesClaim,
    accessTokens: { audience: `${publicUrl}${mcpPath}`, types: config.jwtTypes },
    keys,
    resolve: systemResolve,
    storage,
    noticed,
    clock,
    log,
  });
}
