import {
  AddressError,
  type AddressesOf,
  publicAddresses,
  requirePublicName,
  requireUsualPort,
  type Resolve,
} from "../../base/public-address.ts";

const maxUrlCharacters = 2_048;

/** What a destination may be. `allowsPrivate`: http, and private addresses, such as those of your own network. */
export interface AddressRules {
  readonly allowsPrivate: boolean;
}

/** Whose destinations may have private addresses: none, only the operators', or also those of users. */
export type PrivateAllowed = "false" | "operators" | "true";

/**
 * Users must not reach the network of the server only because operators do. `owner`: the id of one; null for
 * the operators.
 */
export function rulesFor(allowed: PrivateAllowed, owner: string | null): AddressRules {
  return { allowsPrivate: allowed === "true" || (allowed === "operators" && owner === null) };
}

/**
 * Parses the URL of a destination. `URL` turns all spellings of an IPv4 address into the usual one. Throws an
 * `AddressError`; its message does not contain the URL, which may hold a secret.
 */
export function destinationUrl(text: string, { allowsPrivate }: AddressRules): URL {
  const url = text.length <= maxUrlCharacters ? URL.parse(text) : null;
  if (url === null) throw new AddressError("Write a URL, such as https://example.com/hook");
  if (url.protocol !== "https:" && !(allowsPrivate && url.protocol === "http:")) {
    const advice = url.protocol === "http:" ? `. ${howToAllow}` : "";
    throw new AddressError(`The URL must start with https://${advice}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new AddressError("The URL must not contain a user name or password");
  }
  requireUsualPort(url);
  if (!allowsPrivate) requirePublicName(url, howToAllow);
  return url;
}

/** Decodes a part of an address. Throws an `AddressError`. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AddressError("The login and the path must be percent-encoded");
  }
}

const howToAllow = "Set DESTINATIONS_ALLOW_PRIVATE to allow http and private networks.";

/** Throws an `AddressError` if the host of a URL is not public and must be. */
export function requirePublicHost(url: URL, { allowsPrivate }: AddressRules): void {
  if (!allowsPrivate) requirePublicName(url, howToAllow);
}

export interface LookupParts {
  readonly rules: AddressRules;
  readonly resolve: Resolve;
}

/** Looks up the addresses of a destination. Throws an `AddressError` if one of them must be public and is not. */
export function addressLookup({ rules, resolve }: LookupParts): AddressesOf {
  return async (url) => (rules.allowsPrivate ? null : publicAddresses(url, resolve, howToAllow));
}
