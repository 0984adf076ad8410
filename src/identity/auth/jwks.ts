import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyOptions,
} from "jose";

import type { Clock } from "../../base/clock.ts";
import type { Verify } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { plainFetch } from "../../base/plain-fetch.ts";
import { responseText } from "../../base/response-text.ts";

import { verifiedByAny } from "./any-key.ts";
import { audienceRefusal, invalidToken, refusalOf, textOf, TokenRefusal } from "./refusal.ts";
import { rolesIn } from "./role-claim.ts";
import {
  badSubject,
  maxTokenLength,
  sessionWith,
  skewSeconds,
  tokenHash,
  type TokenOptions,
  tooLong,
} from "./token.ts";

/** The accepted signature algorithms: asymmetric ones only, so that no shared secret can sign tokens. */
const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
/** Limits the whole download of the provider's keys, from the request to the last byte. */
const timeoutMs = 5_000;
const maxResponseBytes = 1024 * 1024;
const maxKeys = 100;

export interface ExternalTokens extends Omit<TokenOptions, "key"> {
  /** The accepted `typ` of the header, in lower case. A token without one is a `jwt`. */
  readonly types: readonly string[];
  /** The claim that names the audience in tokens without `aud`. */
  readonly audienceClaim: string;
  /** The claim that contains the roles. */
  readonly rolesClaim: string;
  /** Set if the audience is no setting, so that a refusal advises none. */
  readonly isAudienceFixed?: true;
}

type FetchUrl = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Verifies tokens of an external identity provider with the keys that it publishes (RFC 7517). Keys are fetched
 * on first use, cached for ten minutes, and fetched again when a token names an unknown key or no key verifies it, at
 * most twice a minute. Throws `unavailable` when the keys cannot be fetched.
 */
export function jwksVerifier(
  url: string,
  expected: ExternalTokens,
  clock: Clock,
  fetchUrl: FetchUrl = plainFetch,
): Verify {
  const keys = issuerKeys(url, fetchUrl);
  return async (token) => {
    if (token.length > maxTokenLength) throw invalidToken(tooLong);
    const options = {
      algorithms,
      issuer: expected.issuer,
      requiredClaims: ["exp", "iat", "sub"],
      clockTolerance: skewSeconds,
      currentDate: new Date(clock.now()),
    };
    const { payload, protectedHeader } = await verifyToken(token, keys, options).catch(refuse);
    const refusal =
      wrongAudience(payload, expected) ?? wrongType(payload, protectedHeader, expected);
    if (refusal !== null) throw invalidToken(refusal);
    const session = sessionWith(payload, rolesIn(payload, expected.rolesClaim));
    if (session === null) throw invalidToken(badSubject);
    return { ...session, token: tokenHash(token) };
  };
}

export type IssuerKeys = ReturnType<typeof createRemoteJWKSet>;

/** The keys that an issuer publishes, fetched when they are needed. */
export function issuerKeys(url: string, fetchUrl: FetchUrl): IssuerKeys {
  return createRemoteJWKSet(new URL(url), {
    timeoutDuration: timeoutMs,
    [customFetch]: (address, init) => fetchKeys(fetchUrl, address, init),
  });
}

/** Verifies with a key of the issuer. One that replaced another under the same id is fetched first. Throws an error of `jose`. */
export async function verifyToken(token: string, keys: IssuerKeys, options: JWTVerifyOptions) {
  try {
    return await verifiedByFitting(token, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWSSignatureVerificationFailed) || keys.coolingDown) throw error;
    await keys.reload();
    return verifiedByFitting(token, keys, options);
  }
}

async function verifiedByFitting(token: string, keys: IssuerKeys, options: JWTVerifyOptions) {
  try {
    return await jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    return verifiedByAny(token, error, options);
  }
}

function refuse(error: unknown): never {
  if (!isProviderError(error)) throw invalidToken(refusalOf(error));
  const detail = "The identity provider's keys are not available. Try again.";
  throw new AppError("unavailable", detail, { retryAfterSeconds: 5, cause: error });
}

/** Some issuers write no `aud` into access tokens, but the client's id (Amazon Cognito) or origin (Clerk). */
function wrongAudience(
  claims: JWTPayload,
  { audience, audienceClaim, isAudienceFixed }: ExternalTokens,
): TokenRefusal | null {
  const found = claims.aud ?? claims[audienceClaim];
  if ([found].flat().includes(audience)) return null;
  if (isAudienceFixed) return new TokenRefusal("audience", `it is not for ${audience}`);
  if (found !== undefined) return audienceRefusal(found);
  const other = ["client_id", "azp"].find((claim) => textOf(claims[claim]) !== "");
  const remedy: TokenRefusal["remedy"] =
    other === undefined ? {} : { JWT_AUDIENCE_CLAIM: other, JWT_AUDIENCE: textOf(claims[other]) };
  return new TokenRefusal("audience", "it has no aud", remedy);
}

/** ID tokens tell a client who signed in. They grant no access, also where they have the audience of access tokens. */
function wrongType(
  claims: JWTPayload,
  { typ = "jwt" }: JWTHeaderParameters,
  { types }: ExternalTokens,
): TokenRefusal | null {
  // Security event tokens (RFC 8417), such as logout tokens.
  if (claims["events"] !== undefined) {
    return new TokenRefusal("type", "it reports events: send the access token");
  }
  // Amazon Cognito and Keycloak mark the use of a token in its claims.
  const use = textOf(claims["token_use"] ?? claims["typ"]).toLowerCase();
  const isForClient = claims["nonce"] !== undefined || claims["at_hash"] !== undefined;
  if (use === "" ? isForClient : !["access", "bearer"].includes(use)) {
    return new TokenRefusal("type", "it is an ID token or a refresh token: send the access token");
  }
  // The prefix may be omitted (RFC 7515, 4.1.9). The header may have any value.
  const type = textOf(typ)
    .toLowerCase()
    .replace(/^application\//, "");
  if (types.includes(type)) return null;
  // Tokens of other types, such as `logout+jwt`, grant no access.
  const isOfAccess = /^(?:(?:[a-z0-9.]+-)?at\+)?jwt$/.test(type);
  const remedy: TokenRefusal["remedy"] = isOfAccess
    ? { JWT_TYPES: [...types, type].join(",") }
    : {};
  return new TokenRefusal("type", `its typ is ${type}`, remedy);
}

/**
 * Fetches the keys with a size limit, which jose lacks. jose's `init` forbids redirects, and its signal also
 * aborts the download of the body.
 */
async function fetchKeys(fetchUrl: FetchUrl, url: string, init: RequestInit): Promise<Response> {
  const response = await fetchUrl(url, init);
  const text = await responseText(response, maxResponseBytes);
  // jose rejects anything that is not JSON or not a key set.
  if (countKeys(text) > maxKeys) throw new Error(`The response has more than ${maxKeys} keys`);
  return new Response(text, { status: response.status });
}

function countKeys(text: string): number {
  try {
    const { keys }: { keys?: unknown } = Object(JSON.parse(text));
    return Array.isArray(keys) ? keys.length : 0;
  } catch {
    return 0;
  }
}

/** Whether an error of `verified` is the token's. */
export function isTokenError(error: unknown): boolean {
  return error instanceof errors.JOSEError && !isProviderError(error);
}

/** True when the keys could not be fetched or read; false when the token is invalid. */
function isProviderError(error: unknown): boolean {
  if (error instanceof errors.JWKSNoMatchingKey) return false;
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  // For a response that is not 200 or not JSON, jose throws its base class. Other errors come from fetch.
  return !(error instanceof errors.JOSEError) || error.code === "ERR_JOSE_GENERIC";
}
