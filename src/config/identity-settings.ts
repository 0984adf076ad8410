import { allowances } from "../identity/sessions/session.ts";

import {
  apiToken,
  atLeastBytes,
  claimName,
  issuerUrl,
  rolesClaim,
  text,
  tokenTypes,
  webUrl,
  wordsOf,
} from "./parsers.ts";
import { setting } from "./setting.ts";

/** Access tokens and sign-in. */
export const identitySettings = {
  jwtSecret: setting(
    "JWT_SECRET",
    null,
    "Signs access tokens, at least 32 bytes; unset: created once and stored in DATA_DIR",
    atLeastBytes(32),
    { isSecret: true, isFile: true },
  ),
  jwtIssuer: setting("JWT_ISSUER", "skyhook", "`iss` of access tokens", text),
  jwtAudience: setting("JWT_AUDIENCE", "skyhook", "`aud` of access tokens", text),
  jwksUrl: setting(
    "JWKS_URL",
    null,
    "JSON Web Key Set of an external identity provider; only its tokens are then accepted; at `/mcp`, if `PUBLIC_URL` is set, only those with the audience `PUBLIC_URL/mcp`",
    webUrl,
  ),
  jwtTypes: setting(
    "JWT_TYPES",
    "at+jwt,JWT",
    "With `JWKS_URL`: the accepted `typ` of its tokens, separated by commas; a token without `typ` is a `JWT`",
    tokenTypes,
  ),
  jwtAudienceClaim: setting(
    "JWT_AUDIENCE_CLAIM",
    "aud",
    "With `JWKS_URL`: the claim that names the audience in tokens without `aud`, like `client_id` (Amazon Cognito) or `azp` (Clerk)",
    claimName,
  ),
  jwtRolesClaim: setting(
    "JWT_ROLES_CLAIM",
    "roles",
    "With `JWKS_URL`: the claim of its tokens that contains the roles; a path for nested claims, like `realm_access.roles`",
    rolesClaim,
  ),
  mcpAllow: setting(
    "MCP_ALLOW",
    null,
    "What agents with an access token may do at `/mcp` beyond reading: writes, bodies or both, separated by commas; unset: nothing",
    wordsOf(...allowances),
  ),
  oidcIssuer: setting(
    "OIDC_ISSUER",
    null,
    "OpenID provider for [sign-in to the console](sign-in.md#sign-in-with-openid-connect), for example `https://id.example.com/realms/ops`; unset: none",
    issuerUrl,
  ),
  oidcClientId: setting("OIDC_CLIENT_ID", null, "This server's client id at the issuer", apiToken),
  oidcClientSecret: setting(
    "OIDC_CLIENT_SECRET",
    null,
    "This server's client secret at the issuer",
    apiToken,
    { isSecret: true, isFile: true },
  ),
  oidcRolesClaim: setting(
    "OIDC_ROLES_CLAIM",
    "roles",
    "The claim of the ID token that contains `operator` or `admin`; a path for nested claims, like `realm_access.roles`",
    rolesClaim,
  ),
} as const;
