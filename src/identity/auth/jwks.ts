import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";

import type { Clock } from "../../base/clock.ts";
import type { Verify } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { responseText } from "../../base/response-text.ts";

import {
  invalidToken,
  maxTokenLength,
  sessionOf,
  skewSeconds,
  type TokenOptions,
} from "./token.ts";

/** Signature algorithms taken of an identity provider: none that a shared secret could forge. */
const algorithms = ["RS256", "ES256", "EdDSA"];
/** How long the provider's keys may take to arrive, from the request to the last byte. */
const timeoutMs = 5_000;
const maxAnswerBytes = 1024 * 1024;
const maxKeys = 100;

/**
 * Checks tokens of an external identity provider by the keys it publishes (RFC 7517). Keys are fetched
 * when first needed, kept for ten minutes, and fetched again when a token names a new one, at most
 * twice a minute. Throws `unavailable` when they cannot be had.
 */
export function jwksVerifier(
  url: string,
  { issuer, audience }: Omit<TokenOptions, "key">,
  clock: Clock,
): Verify {
  const keys = createRemoteJWKSet(new URL(url), {
    timeoutDuration: timeoutMs,
    [customFetch]: fetchKeys,
  });
  return async (token) => {
    if (token.length > maxTokenLength) throw invalidToken();
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms,
        typ: "at+jwt",
        issuer,
        audience,
        requiredClaims: ["exp", "iat", "sub"],
        clockTolerance: skewSeconds,
        currentDate: new Date(clock.now()),
      });
      const session = sessionOf(payload);
      if (session !== null) return session;
    } catch (error) {
      if (isProvidersFault(error)) {
        const detail = "The identity provider's keys cannot be had; try again";
        throw new AppError("unavailable", detail, { retryAfterSeconds: 5, cause: error });
      }
    }
    throw invalidToken();
  };
}

/**
 * Fetches the keys, which jose would read whatever their size. Redirects are not followed: `init` says so.
 * Its signal ends the reading of the body too.
 */
async function fetchKeys(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const text = await responseText(response, maxAnswerBytes);
  // What is no JSON, or no set of keys, is for jose to refuse.
  if (countKeys(text) > maxKeys) throw new Error(`The answer has more than ${maxKeys} keys`);
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

/** True when the keys did not come or were no keys; false when the token is at fault. */
function isProvidersFault(error: unknown): boolean {
  if (error instanceof errors.JWKSNoMatchingKey) return false;
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  // jose throws its base class for an answer that is not 200 or not JSON, and fetch its own errors.
  return !(error instanceof errors.JOSEError) || error.code === "ERR_JOSE_GENERIC";
}
