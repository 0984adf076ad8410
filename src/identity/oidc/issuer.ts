import type * as Library from "oauth4webapi";

import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Resolve } from "../../base/public-address.ts";
import { type IssuerKeys, issuerKeys, isTokenError, verifyToken } from "../auth/jwks.ts";

import { issuerFetch, requireEndpoints } from "./endpoints.ts";

/** How long the issuer's metadata is used, as its keys are. */
const metadataMs = 600_000;
/** After a failure, the metadata is not fetched again for this long: anybody can begin sign-ins. */
const failureMs = 5_000;
/** The tolerated difference between the issuer's clock and ours. */
const skewSeconds = 30;

export interface IssuerSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

/** The secrets of one sign-in. */
export interface Challenge {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The claims of a verified ID token. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** An OpenID provider. Its methods throw `invalid-token` or `unavailable`. */
export interface Issuer {
  readonly host: string;
  /** Fetches what the issuer's metadata names. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** The URL of its keys. */
  keysUrl(): Promise<string>;
  /** Makes a challenge and the address at which a browser signs in with it. */
  challenge(): Promise<{ readonly challenge: Challenge; readonly location: string }>;
  /** Checks state and issuer (RFC 9207) of an authorization response. Returns the exchange of its code. */
  respond(
    challenge: Challenge,
    parameters: URLSearchParams,
  ): Promise<{ exchange(): Promise<Claims> }>;
}

/** Authorization code flow with PKCE (RFC 7636). The library is loaded by the first sign-in. */
export function issuerClient(settings: IssuerSettings, clock: Clock, resolve: Resolve): Issuer {
  const { clientId, clientSecret, redirectUri } = settings;
  const url = new URL(settings.issuer);
  const limitedFetch = issuerFetch(url, clock, resolve);
  /** Also while it is fetched, so that simultaneous sign-ins send one request. */
  let known: { readonly metadata: Promise<Library.AuthorizationServer>; until: number } | null =
    null;

  /** Kept, because it caches the keys; the issuer's metadata may name other keys later. */
  let keys: { readonly url: string; readonly all: IssuerKeys } | null = null;

  function keysAt(at: string): IssuerKeys {
    if (keys?.url !== at) keys = { url: at, all: issuerKeys(at, limitedFetch) };
    return keys.all;
  }

  function metadata(library: typeof Library): Promise<Library.AuthorizationServer> {
    if (known !== null && known.until > clock.now()) return known.metadata;
    const found = { metadata: discovered(library), until: clock.now() + metadataMs };
    known = found;
    found.metadata.catch(() => {
      found.until = clock.now() + failureMs;
    });
    return found.metadata;
  }

  async function discovered(library: typeof Library): Promise<Library.AuthorizationServer> {
    const response = await library.discoveryRequest(url, optionsOf(library));
    const found = await library.processDiscoveryResponse(url, response);
    requireEndpoints(found, url);
    return found;
  }

  const optionsOf = (library: typeof Library) => ({
    [library.customFetch]: limitedFetch,
    // The settings allow http only for issuers on this machine.
    [library.allowInsecureRequests]: url.protocol === "http:",
  });

  const clientOf = (library: typeof Library): Library.Client => ({
    client_id: clientId,
    [library.clockSkew]: Math.round((clock.now() - Date.now()) / 1_000),
    [library.clockTolerance]: skewSeconds,
  });

  async function attempt<Value>(
    action: (
      library: typeof Library,
      server: Library.AuthorizationServer,
    ) => Value | Promise<Value>,
  ): Promise<Value> {
    const library = await import("oauth4webapi");
    const server = await metadata(library).catch((error: unknown) => {
      throw unavailable(url.host, error);
    });
    try {
      return await action(library, server);
    } catch (error) {
      throw toAppError(error, library, url.host);
    }
  }

  return {
    host: url.host,
    fetch: limitedFetch,
    keysUrl: () => attempt((_, server) => server.jwks_uri ?? ""),
    challenge: () =>
      attempt(async (library, server) => {
        const challenge = {
          state: library.generateRandomState(),
          nonce: library.generateRandomNonce(),
          verifier: library.generateRandomCodeVerifier(),
        };
        const location = new URL(server.authorization_endpoint ?? "");
        const parameters = {
          client_id: clientId,
          redirect_uri: redirectUri,
          response_type: "code",
          scope: "openid profile email",
          state: challenge.state,
          nonce: challenge.nonce,
          code_challenge: await library.calculatePKCECodeChallenge(challenge.verifier),
          code_challenge_method: "S256",
        };
        for (const [name, value] of Object.entries(parameters)) {
          location.searchParams.set(name, value);
        }
        return { challenge, location: location.href };
      }),
    respond: ({ state, nonce, verifier }, parameters) =>
      attempt((library, server) => {
        const client = clientOf(library);
        const options = optionsOf(library);
        const checked = library.validateAuthResponse(server, client, parameters, state);
        const exchange = () =>
          attempt(async () => {
            const response = await library.authorizationCodeGrantRequest(
              server,
              client,
              authenticationOf(library, server, clientSecret),
              checked,
              redirectUri,
              verifier,
              options,
            );
            const granted = await library.processAuthorizationCodeResponse(
              server,
              client,
              response,
              { expectedNonce: nonce, requireIdToken: true },
            );
            const claims = library.getValidatedIdTokenClaims(granted);
            if (claims === undefined || granted.id_token === undefined)
              throw new Error("the response has no ID token");
            const timely = { currentDate: new Date(clock.now()), clockTolerance: skewSeconds };
            await verifyToken(granted.id_token, keysAt(server.jwks_uri ?? ""), timely);
            return claims;
          });
        return { exchange };
      }),
  };
}

function authenticationOf(
  library: typeof Library,
  { token_endpoint_auth_methods_supported: supported }: Library.AuthorizationServer,
  secret: string,
): Library.ClientAuth {
  const needsPost =
    Array.isArray(supported) &&
    supported.includes("client_secret_post") &&
    !supported.includes("client_secret_basic");
  return needsPost ? library.ClientSecretPost(secret) : library.ClientSecretBasic(secret);
}

/** The library's errors hold responses, and thus tokens, so they are never logged themselves. */
function toAppError(error: unknown, library: typeof Library, host: string): AppError {
  if (error instanceof AppError) return error;
  const cause = new Error(messageOf(error));
  if (error instanceof library.AuthorizationResponseError) {
    const detail = `${host} did not sign you in (${wordOf(error.error)}).`;
    return new AppError("invalid-token", detail, { cause });
  }
  const isGrantError =
    error instanceof library.ResponseBodyError && error.error === "invalid_grant";
  const code = error instanceof library.OperationProcessingError ? error.code : null;
  const tokenCodes: readonly unknown[] = [
    library.INVALID_RESPONSE,
    library.JWT_TIMESTAMP_CHECK,
    library.JWT_CLAIM_COMPARISON,
  ];
  if (isGrantError || isTokenError(error) || (code !== null && tokenCodes.includes(code))) {
    const detail = `The response of ${host} is not valid for this sign-in. Sign in again.`;
    return new AppError("invalid-token", detail, { cause });
  }
  const isRejected =
    error instanceof library.ResponseBodyError ||
    error instanceof library.WWWAuthenticateChallengeError;
  if (!isRejected) return unavailable(host, error);
  const detail = `${host} rejected this server's request. Check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET.`;
  return new AppError("unavailable", detail, { retryAfterSeconds: 5, cause });
}

function unavailable(host: string, error: unknown): AppError {
  const detail = `${host} is not available, or its response is not that of an OpenID provider. Try again, or use a sign-in link.`;
  const cause = new Error(messageOf(error));
  return new AppError("unavailable", detail, { retryAfterSeconds: 5, cause });
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  return "error" in error ? `${error.message} (${wordOf(error.error)})` : error.message;
}

/** An error code of OAuth 2.0; anything else could be a text for phishing, or a token. */
function wordOf(value: unknown): string {
  return typeof value === "string" && /^[a-z_]{1,40}$/.test(value) ? value : "unknown error";
}
