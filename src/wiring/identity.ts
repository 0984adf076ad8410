import type { Clock } from "../base/clock.ts";
import type { Verify } from "../base/context.ts";
import { systemResolve } from "../base/public-address.ts";
import type { Config } from "../config/config.ts";
import { tokenKey } from "../config/secrets.ts";
import { audit } from "../identity/audit/audit.ts";
import { clients } from "../identity/auth/clients.ts";
import { consoleCodes } from "../identity/auth/console-codes.ts";
import { jwksVerifier } from "../identity/auth/jwks.ts";
import { loggedRefusals, unlessErased } from "../identity/auth/refusal.ts";
import { rememberedSessions } from "../identity/auth/remembered-sessions.ts";
import { isSignedWithSecret, tokens } from "../identity/auth/token.ts";
import {
  callLimiter,
  failureLimiter,
  testLimiter,
  workLimiter,
  writeLimiter,
} from "../identity/limiter.ts";
import { type Oidc, oidc } from "../identity/oidc/oidc.ts";
import { agentSignIn, mcpPath } from "../identity/sessions/agent-sign-in.ts";
import { agentTokens } from "../identity/sessions/agent-tokens.ts";
import { sessions } from "../identity/sessions/sessions.ts";
import { erasures } from "../identity/users/erasures.ts";
import { users } from "../identity/users/users.ts";

import type { Platform } from "./platform.ts";

export type IdentityServices = ReturnType<typeof identityServices>;

export function identityServices(platform: Platform) {
  const { config, storage, clock, makeId, log } = platform;
  const key = tokenKey(config.jwtSecret, config.dataDir);
  const issuing = { key, issuer: config.jwtIssuer, audience: config.jwtAudience };
  const minting = tokens(issuing, clock);
  const verify = externalVerifier(config, clock) ?? minting.verify;
  const audited = audit(storage, clock, makeId, writeLimiter(clock));
  const erased = erasures(storage, clock);
  const accepted = rememberedSessions(verify, clock);
  const signIn = openIdConnect(platform);
  const forAgents = agentTokens(storage, audited, clock, makeId);
  const agentAccess = unlessErased(
    agentSignIn(forAgents, agentVerifier(platform, accepted, signIn), config.mcpAllow ?? []),
    erased,
  );
  return {
    tokens: minting,
    /** Verifies Skyhook's tokens or, if configured, those of an identity provider. */
    verify: loggedRefusals(unlessErased(accepted, erased), log, clock),
    clients: clients(storage, minting, clock, makeId),
    consoleCodes: consoleCodes(issuing, storage, clock),
    limiter: failureLimiter(clock),
    /** Of failed sign-ins by OpenID Connect, which must not block an address's webhooks. */
    signInLimiter: failureLimiter(clock),
    tests: testLimiter(clock),
    calls: callLimiter(clock),
    work: workLimiter(clock),
    users: users(storage, clock, config.usersAccess),
    erasures: erased,
    audit: audited,
    sessions: sessions(storage, audited, clock, makeId),
    agentTokens: forAgents,
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
function agentVerifier({ config, clock }: Platform, accepted: Verify, issuer: Oidc | null): Verify {
  const { jwksUrl, publicUrl, jwtIssuer, jwtTypes: types, jwtRolesClaim: rolesClaim } = config;
  const audience = `${publicUrl}${mcpPath}`;
  if (jwksUrl !== null) {
    if (publicUrl === null) return accepted;
    const fixed = { audienceClaim: "aud", isAudienceFixed: true } as const;
    const expected = { issuer: jwtIssuer, audience, types, rolesClaim, ...fixed };
    return rememberedSessions(jwksVerifier(jwksUrl, expected, clock), clock);
  }
  if (issuer === null) return accepted;
  const issued = rememberedSessions(issuer.verify, clock);
  return (token) => (isSignedWithSecret(token) ? accepted(token) : issued(token));
}

function issuerFor({ jwksUrl, jwtIssuer, oidcIssuer }: Config): string | null {
  if (jwksUrl === null) return oidcIssuer;
  return URL.canParse(jwtIssuer) ? jwtIssuer : null;
}

function openIdConnect({ config, keys, storage, clock, log }: Platform): Oidc | null {
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
    clock,
    log,
  });
}
