import {
  AddressError,
  type AddressesOf,
  fetchAt,
  publicAddresses,
  requireUsualPort,
  type Resolve,
} from "./public-address.ts";
import { responseText } from "./response-text.ts";

/** A response, read completely. */
interface GuardedResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

/**
 * Fetches a URL that a file or a request names. Follows no redirects, and reads at most 64 KiB within 5 s, including the
 * time to look up the host. Throws an `AddressError` if the address is not allowed.
 */
export type GuardedFetch = (url: URL, init?: RequestInit) => Promise<GuardedResponse>;

interface Rules {
  /** Whether http and private addresses are allowed. */
  readonly allowsPrivate: boolean;
  readonly resolve: Resolve;
}

const timeoutMs = 5_000;
const maxResponseBytes = 64 * 1024;
const howToAllow = "Set DESTINATIONS_ALLOW_PRIVATE=operators to allow private networks.";

export function guardedFetch({ allowsPrivate, resolve }: Rules): GuardedFetch {
  const addressesOf: AddressesOf = async (url) => {
    requireUsualPort(url);
    if (allowsPrivate) return null;
    if (url.protocol !== "https:") {
      throw new AddressError(`The address must start with https://. ${howToAllow}`);
    }
    return publicAddresses(url, resolve, howToAllow);
  };

  return async (url, init) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetchAt(url, { ...init, redirect: "error", signal }, addressesOf);
    const text = await responseText(response, maxResponseBytes);
    return { ok: response.ok, status: response.status, text };
  };
}
