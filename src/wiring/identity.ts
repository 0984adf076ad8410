import type { Verify } from "../base/context.ts";
import { systemResolve } from "../base/public-address.ts";
import { tokenKey } from "../config/secrets.ts";
import { type Audit, audit } from "../identity/audit/audit.ts";
import { type Clients, clients } from "../identity/auth/clients.ts";
import { type ConsoleCodes, consoleCodes } from "../identity/auth/console-codes.ts";
import { jwksVerifier } from "../identity/auth/jwks.ts";
import { rememberedSessions } from "../identity/auth/remembered-sessions.ts";
import { type Tokens, tokens } from "../identity/auth/token.ts";
import {
  type FailureLimiter,
  failureLimiter,
  type TestLimiter,
  testLimiter,
  writeLimiter,
} from "../identity/limiter.ts";
import { type Oidc, oidc } from "../identity/oidc/oidc.ts";
import { type Sessions, sessions } from "../identity/sessions/sessions.ts";
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
  readonly audit: Audit;
  readonly sessions: Sessions;
  /** Null if it is not configured. */
  readonly oidc: Oidc | null;
}

export function identityServices(platform: Platform): IdentityServices {
  const { config, storage, clock, makeId } = platform;
  const key = tokenKey(config.jwtSecret, config.dataDir);
  const issuing = { key, issuer: config.jwtIssuer, audience: config.jwtAudience };
  const minting = tokens(issuing, clock);
  const verifying =
    config.jwksUrl === null
      ? (token: string) => minting.verify(token)
      : jwksVerifier(
          config.jwksUrl,
          { ...issuing, types: config.jwtTypes, rolesClaim: config.jwtRolesClaim },
          clock,
        );
  const audited = audit(storage, clock, makeId, writeLimiter(clock));
  return {
    tokens: minting,
    verify: rememberedSessions(verifying, clock),
    clients: clients(storage, minting, clock, makeId),
    consoleCodes: consoleCodes(issuing, storage, minting, clock),
    limiter: failureLimiter(clock),
    signInLimiter: failureLimiter(clock),
    tests: testLimiter(clock),
    users: users(storage, clock, config.usersAccess),
    audit: audited,
    sessions: sessions(storage, audited, clock, makeId),
    oidc: openIdConnect(platform),
  };
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
