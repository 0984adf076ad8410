import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

import { errorCode } from "./errors.ts";
import { unlessAborted } from "./in-time.ts";
import { plainFetch } from "./plain-fetch.ts";

/** An address that Skyhook must not send to. The message says why, and what to do. */
export class AddressError extends Error {
  override readonly name = "AddressError";
}

/** The global unicast addresses (IANA IPv6 Address Space). */
const globalUnicast = ipaddr.parseCIDR("2000::/3");

/**
 * Whether an IP address is reachable on the public Internet: in none of the ranges of IANA's registries of special
 * addresses. False for text that is not an IP address.
 */
export function isPublic(address: string): boolean {
  // Stricter than the parser, which reads 127.1 too.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast);
}

/** Returns all IP addresses of a host name. Throws if there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/** The most addresses that are tried for one request. */
const maxAddresses = 4;

/** IP addresses of one host, to be tried in this order. */
export type Addresses = readonly [string, ...string[]];

/**
 * Returns the IP addresses of a URL's host. A name could resolve to another address the next time (DNS
 * rebinding), so the connection must use one of these. Throws an `AddressError` if any address of the host is not
 * public; its message ends with `advice`.
 */
export async function publicAddresses(
  url: URL,
  resolve: Resolve,
  advice: string,
): Promise<Addresses> {
  requirePublicName(url, advice);
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const blocked = addresses.find((address) => !isPublic(address));
  if (blocked !== undefined) {
    const what = `${host} resolves to ${blocked}, which is not a public address.`;
    throw new AddressError(`${what} ${advice}`);
  }
  const [first, ...others] = addresses.slice(0, maxAddresses);
  if (first === undefined) throw new AddressError(`${host} has no address`);
  return [first, ...others];
}

/**
 * Throws an `AddressError` if the host is a private IP address or a name that never leaves a network. Its message
 * ends with `advice`.
 */
export function requirePublicName(url: URL, advice: string): void {
  const host = hostOf(url);
  // Names without a dot, and names of local networks (RFC 6761, RFC 6762, RFC 8375).
  const isLocal = !host.includes(".") || /\.(?:localhost|local|internal|home\.arpa)$/.test(host);
  if (isIP(host) === 0 ? !isLocal : isPublic(host)) return;
  throw new AddressError(`${host} is not a public address. ${advice}`);
}

/** The lowest port, except for those of HTTP. Lower ones belong to other protocols. */
const lowestPort = 1_024;

/** Throws an `AddressError` if the port of a URL belongs to another protocol than HTTP. */
export function requireUsualPort(url: URL): void {
  const port = url.port === "" ? 443 : Number(url.port);
  if (port >= lowestPort || port === 443 || port === 80) return;
  throw new AddressError(`Port ${port} is not allowed. Use 80, 443, or ${lowestPort} and above.`);
}

/** The host of a URL: an IPv6 address without brackets, a name without the dot of the root. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** The IP addresses to connect to for a URL. Null: the system resolves the name. */
export type AddressesOf = (url: URL) => Promise<Addresses | null>;

/** Fetches a URL from the addresses that are looked up, as `plainFetch` does. */
export async function fetchAt(
  url: URL,
  init: RequestInit & { readonly signal: AbortSignal },
  addressesOf: AddressesOf,
): Promise<Response> {
  const addresses = await unlessAborted(init.signal, addressesOf(url));
  return addresses === null ? plainFetch(url, init) : fetchFrom(addresses, url, init);
}

/** Errors of a connection that was not made. Without IPv6, a network has no route to the IPv6 addresses of a host. */
const notSent: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH"]);

/** Fetches from the first of these addresses that accepts a connection. Host and certificate are those of the URL. */
async function fetchFrom(
  [address, ...others]: Addresses,
  url: URL,
  init: RequestInit,
): Promise<Response> {
  const pinned = new URL(url);
  pinned.hostname = isIP(address) === 6 ? `[${address}]` : address;
  const headers = new Headers(init.headers);
  headers.set("host", url.host);
  try {
    return await plainFetch(pinned, {
      ...init,
      headers,
      ...(address !== url.hostname && { tls: { serverName: url.hostname } }),
    });
  } catch (error) {
    const isUnreachable = notSent.has(errorCode(error) ?? "") && init.signal?.aborted !== true;
    const [next, ...rest] = others;
    if (next === undefined || !isUnreachable) throw error;
    return fetchFrom([next, ...rest], url, init);
  }
}
