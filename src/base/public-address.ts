import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

import { errorCode } from "./errors.ts";
import { plainFetch } from "./plain-fetch.ts";

/** An address that Skyhook must not send to. The message says why, and what to do. */
export class AddressError extends Error {
  override readonly name = "AddressError";
}

/** IPv4 ranges that are not public (IANA IPv4 Special-Purpose Address Registry), and multicast. */
const specialIpv4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Link-local, with the metadata services of cloud providers.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const;

/**
 * Ranges within the global unicast addresses 2000::/3 that are not public or that contain an IPv4 address
 * (IANA IPv6 Special-Purpose Address Registry): protocol assignments with Teredo, documentation, 6to4.
 */
const specialIpv6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const special = new BlockList();
for (const [range, bits] of specialIpv4) special.addSubnet(range, bits, "ipv4");
for (const [range, bits] of specialIpv6) special.addSubnet(range, bits, "ipv6");
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

/** Whether an IP address is reachable on the public Internet. False for text that is not an IP address. */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4");
    case 6:
      return globalUnicast.check(address, "ipv6") && !special.check(address, "ipv6");
    default:
      return false;
  }
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
  const refused = addresses.find((address) => !isPublic(address));
  if (refused !== undefined) {
    const what = `${host} resolves to ${refused}, which is not a public address.`;
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

/** Errors of a connection that was not made. Without IPv6, a network has no route to the IPv6 addresses of a host. */
const notSent: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH"]);

/**
 * Fetches a URL from the first of these addresses that accepts a connection, as `plainFetch` does. Host and certificate
 * are those of the URL.
 */
export async function fetchFrom(
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
