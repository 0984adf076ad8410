import type { Context } from "../base/context.ts";

import type { Exchange } from "./auth.ts";

/** The part of Bun's server that returns the address of a socket. */
interface SocketAddresses {
  requestIP(request: Request): { readonly address: string } | null;
}

/** The parts of Elysia's context that determine the client's address. */
export interface Connection {
  readonly request: Request;
  readonly server: SocketAddresses | null;
}

/** Returns the client's address, as this server's trusted proxies forward it. */
export type AddressOf = (connection: Connection) => string;

/**
 * Starts work for a client without a token: counts it, in fields of a response, and waits for a turn of the event loop
 * of its own if it is much. Throws `too-many-requests`.
 */
export type Admit = (fields: number) => Promise<void>;

/** What a caller may do so often in a minute. */
export type LimitedKind = "writes" | "costly-reads";

/** Counts a request of a caller, and sets the headers that say what is left. Throws `too-many-requests`. */
export type Limit = (ctx: Context, kind: LimitedKind, headers: Exchange["set"]["headers"]) => void;

/**
 * The client's address: without trusted proxies, the address of the socket. With `hops` trusted proxies, the
 * entry that the outermost one added to `X-Forwarded-For`, counted from the right, because clients can
 * forge the entries on the left. If that entry is no address, the entry of the next nearer proxy is used,
 * and finally the socket's. `server` is null in tests, which have no socket.
 */
export function clientAddress({ request, server }: Connection, hops: number): string {
  if (hops > 0) {
    const trusted = request.headers.get("x-forwarded-for")?.split(",").slice(-hops) ?? [];
    for (const entry of trusted) {
      const address = addressIn(entry.trim());
      if (address !== null) return address;
    }
  }
  return server?.requestIP(request)?.address ?? "unknown";
}

/** Parses an entry: an address, or an address with a port, where IPv6 addresses are in brackets. */
function addressIn(entry: string): string | null {
  // Loaded only behind a proxy: loading it takes a third of the start time of a bare server.
  const { isIP, isIPv4, isIPv6 } = process.getBuiltinModule("node:net");
  if (isIP(entry) !== 0) return entry;
  const [, ipv6, ipv4] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+):\d{1,5})$/.exec(entry) ?? [];
  if (ipv6 !== undefined && isIPv6(ipv6)) return ipv6;
  return ipv4 !== undefined && isIPv4(ipv4) ? ipv4 : null;
}
