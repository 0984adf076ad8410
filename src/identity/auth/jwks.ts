import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";

import type { Clock } from "../../base/clock.ts";
import type { Verify } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { plainFetch } from "../../base/plain-fetch.ts";
import { responseText } from "../../base/response-text.ts";

import { rolesIn } from "./role-claim.ts";
import {
  invalidToken,
  maxTokenLength,
  sessionWith,
  skewSeconds,
  type TokenOptions,
} from "./token.ts";

/** The accepted signature algorithms: asymmetric ones only, so that no shared secret can sign tokens. */
const algorithms = ["RS256", "ES256", "EdDSA"];
/** Limits the whole download of the provider's keys, from the request to the last byte. */
const timeoutMs = 5_000;
const maxResponseBytes = 1024 * 1024;
const maxKeys = 100;

interface ExternalTokens extends Omit<TokenOptions, "key"> {
  /** The accepted `typ` of the header, in lower case. */
  readonly types: readonly string[];
  /** The claim that contains the roles. */
  readonly rolesClaim: string;
}

/**
 * Verifies tokens of an external identity provider with the keys that it publishes (RFC 7517). Keys are fetched
 * on first use, cached for ten minutes, and fetched again when a token names an unknown key, at most
 * twice a minute. Throws `unavailable` when the keys cannot be fetched.
 */
export function jwksVerifier(
  url: string,
  { issuer, audience, types, rolesClaim }: ExternalTokens,
  clock: Clock,
): Verify {
  const keys = createRemoteJWKSet(new URL(url), {
    timeoutDuration: timeoutMs,
    [customFetch]: fetchKeys,
  });
  return async (token) => {
    if (token.length > maxTokenLength) throw invalidToken();
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        algorithms,
        issuer,
        audience,
        requiredClaims: ["exp", "iat", "sub"],
        clockTolerance: skewSeconds,
        currentDate: new Date(clock.now()),
      });
      const isWanted = types.includes(typeOf(protectedHeader.typ));
      const session = isWanted ? sessionWith(payload, rolesIn(payload, rolesClaim)) : null;
      if (session !== null) return session;
    } catch (error) {
      if (isProviderError(error)) {
        const detail = "The identity provider's keys are not available. Try again.";
        throw new AppError("unavailable", detail, { retryAfterSeconds: 5, cause: error });
      }
    }
    throw invalidToken();
  };
}

/** The type of a token without the prefix that may be omitted (RFC 7515, 4.1.9). */
function typeOf(typ = ""): string {
  return typ.toLowerCase().replace(/^application\//, "");
}

/**
 * Fetches the keys with a size limit, which jose lacks. jose's `init` forbids redirects, and its signal also
 * aborts the download of the body.
 */
async function fetchKeys(url: string, init: RequestInit): Promise<Response> {
  const response = await plainFetch(url, init);
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

/** True when the keys could not be fetched or read; false when the token is invalid. */
function isProviderError(error: unknown): boolean {
  if (error instanceof errors.JWKSNoMatchingKey) return false;
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  // For a response that is not 200 or not JSON, jose throws its base class. Other errors come from fetch.
  return !(error instanceof errors.JOSEError) || error.code === "ERR_JOSE_GENERIC";
}
