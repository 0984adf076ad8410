import type { Clock } from "../base/clock.ts";
import type { Verify } from "../base/context.ts";
import { systemResolve } from "../base/public-address.ts";
import type { Config } from "../config/config.ts";
import { tokenKey } from "../config/secrets.ts";
import { type Audit, audit } from "../identity/audit/audit.ts";
import { type Clients, clients } from "../identity/auth/clients.ts";
import { type ConsoleCodes, consoleCodes } from "../identity/auth/console-codes.ts";
import { jwksVerifier } from "../identity/auth/jwks.ts";
import { loggedRefusals } from "../identity/auth/refusal.ts";
import { rememberedSessions } from "../identity/auth/remembered-sessions.ts";
import { type Tokens, tokens } from "../identity/auth/token.ts";
import { unlessErased } from "../identity/auth/unless-erased.ts";
import {
  type FailureLimiter,
  failureLimiter,
  type TestLimiter,
  testLimiter,
  writeLimiter,
} from "../identity/limiter.ts";
import { type Oidc, oidc } from "../identity/oidc/oidc.ts";
import { type AgentTokens, agentTokens } from "../identity/sessions/agent-tokens.ts";
import { type Sessions, sessions } from "../identity/sessions/sessions.ts";
import { type Erasures, erasures } from "../identity/users/erasures.ts";
import { type Users, users } from "../identity/users/users.ts";

import type { Platform } from "./platform.ts";

export interface IdentityServices {
  readonly tokens: Tokens;
  /** Verifies Skyhook's tokens or, if configured, those of an identity provider. */
  readonly verify: Verify;
  readonly clients: Clients;
  readonly consoleCodes: ConsoleCodes;
  readonly limiter: FailureLimiter;
  /** Of failed sign-ins by OpenID Connect, which must not block an address's webhooks. */
  readonly signInLimiter: FailureLimiter;
  readonly tests: TestLimiter;
  readonly users: Users;
  readonly erasures: Erasures;
  readonly audit: Audit;
  readonly sessions: Sessions;
  readonly agentTokens: AgentTokens;
  /** Null if it is not configured. */
  readonly oidc: Oidc | null;
}

/** `agentEnded` is called with the id of a revoked token of an agent. */
export function identityServices(
  platform: Platform,
  agentEnded: (id: string) => Promise<unknown>,
): IdentityServices {
  const { config, storage, clock, makeId, log } = platform;
  const key = tokenKey(config.jwtSecret, config.dataDir);
  const issuing = { key, issuer: config.jwtIssuer, audience: config.jwtAudience };
  const minting = tokens(issuing, clock);
  const verify = externalVerifier(config, clock) ?? minting.verify;
  const audited = audit(storage, clock, makeId, writeLimiter(clock));
  const erased = erasures(storage, clock);
  const unerased = unlessErased(rememberedSessions(verify, clock), erased);
  return {
    tokens: minting,
    verify: loggedRefusals(unerased, log, clock),
    clients: clients(storage, minting, clock, makeId),
    consoleCodes: consoleCodes(issuing, storage, minting, clock),
    limiter: failureLimiter(clock),
    signInLimiter: failureLimiter(clock),
    tests: testLimiter(clock),
    users: users(storage, clock, config.usersAccess),
    erasures: erased,
    audit: audited,
    sessions: sessions(storage, audited, clock, makeId, agentEnded),
    agentTokens: agentTokens(storage, audited, clock, makeId),
    oidc: openIdConnect(platform),
  };
}

/** Verifies tokens of the configured identity provider; null if none is. */
export function externalVerifier(config: Config, clock: Clock): Verify | null {
  const { jwksUrl, jwtIssuer: issuer, jwtAudience: audience, jwtTypes: types } = config;
  const { jwtAudienceClaim: audienceClaim, jwtRolesClaim: rolesClaim } = config;
  if (jwksUrl === null) return null;
  return jwksVerifier(jwksUrl, { issuer, audience, types, audienceClaim, rolesClaim }, clock);
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
    keys,
    resolve: systemResolve,
    storage,
    clock,
    log,
  });
}
