import type { AuthorizationServer } from "oauth4webapi";

import type { Clock } from "../../base/clock.ts";
import { isLoopback } from "../../base/loopback.ts";
import {
  AddressError,
  type AddressesOf,
  fetchAt,
  publicAddresses,
  type Resolve,
} from "../../base/public-address.ts";
import { responseText } from "../../base/response-text.ts";

/** Limits each request, from its start to the last byte of the response. */
const timeoutMs = 5_000;
const maxResponseBytes = 256 * 1024;

const endpoints = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;

/**
 * Throws unless the metadata names URLs that codes and the client's secret may be sent to. They may have other hosts
 * than the issuer, as those of Google and Amazon Cognito do, but must be https. An issuer on this machine may also
 * name http URLs of this machine.
 */
export function requireEndpoints(metadata: AuthorizationServer, issuer: URL): void {
  for (const name of endpoints) {
    const endpoint: unknown = metadata[name];
    const url = typeof endpoint === "string" ? URL.parse(endpoint) : null;
    if (url !== null && isSafe(url, issuer)) continue;
    throw new Error(`${name} of the issuer's metadata is not an https URL`);
  }
}

function isSafe(url: URL, issuer: URL): boolean {
  const isLocal = url.protocol === "http:" && issuer.protocol === "http:" && isLoopback(url.href);
  const hasExtras = url.username !== "" || url.password !== "" || url.hash !== "";
  return (url.protocol === "https:" || isLocal) && !hasExtras;
}

/**
 * Returns how to send requests to the issuer and to the endpoints of its metadata. Its own origin may be anywhere. An
 * endpoint elsewhere must have a public address, unless the issuer's own address is private. Never follows
 * redirects. Throws an `AddressError`.
 */
export function issuerFetch(issuer: URL, clock: Clock, resolve: Resolve) {
  const addressesOf: AddressesOf = async (url) => {
    if (url.origin === issuer.origin || (await isPrivate(issuer, resolve))) return null;
    return publicAddresses(
      url,
      resolve,
      "The issuer has a public address, so its endpoints must have one too.",
    );
  };

  return async (address: string, init: RequestInit): Promise<Response> => {
    const late = new AbortController();
    const cancelTimeout = clock.after(timeoutMs, () => late.abort(new Error("no answer in time")));
    try {
      const manual = { ...init, redirect: "manual", signal: late.signal } as const;
      return await limited(await fetchAt(new URL(address), manual, addressesOf));
    } finally {
      cancelTimeout();
    }
  };
}

async function isPrivate(url: URL, resolve: Resolve): Promise<boolean> {
  try {
    await publicAddresses(url, resolve, "");
    return false;
  } catch (error) {
    if (error instanceof AddressError) return true;
    throw error;
  }
}

/** The response with what the library reads of it. */
async function limited(response: Response): Promise<Response> {
  const text = await responseText(response, maxResponseBytes);
  const type = response.headers.get("content-type") ?? "";
  const challenge = response.headers.get("www-authenticate");
  return new Response(text, {
    status: response.status,
    headers: { "content-type": type, ...(challenge !== null && { "www-authenticate": challenge }) },
  });
}
