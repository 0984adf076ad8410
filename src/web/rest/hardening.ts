import type { AnyElysia } from "elysia";

import { AppError } from "../../base/errors.ts";

/**
 * Throws `bad-request` for more than one Host header, or one with a space (RFC 9112 section 3.2): proxies might route by
 * another one than we read. Bun joins several with a comma and a space, equal ones too, and no host contains a space.
 */
export function requireOneHost(headers: Headers): void {
  if (headers.get("host")?.includes(" ") === true) {
    throw new AppError("bad-request", "The request must have exactly one valid Host header");
  }
}

/**
 * Sets security headers on every response: browsers must not sniff its type, load resources, show it in a
 * frame or send its URL as referrer. HTML pages replace the Content-Security-Policy with their own. HSTS is
 * left to the proxy that terminates TLS.
 */
export function setSecurityHeaders(headers: Record<string, string | number>): void {
  headers["x-content-type-options"] = "nosniff";
  headers["content-security-policy"] = "default-src 'none'; frame-ancestors 'none'";
  headers["referrer-policy"] = "no-referrer";
}

/**
 * Handles every request one turn of the event loop after it arrived. Bun closes a connection that sends a request
 * while the previous one has no response (RFC 9112 section 9.3.2 lets it). Without the turn, requests that need no
 * I/O are answered at once, so one connection with pipelined requests would keep all others waiting.
 *
 * In that turn Bun may also answer 400 itself, or close the connection: for a trailer, bytes after the body, or a pipelined
 * request. The request is then not handled, so that nothing is stored that its client believes was rejected.
 */
export const noPipelining = wrapper(
  (handle) => (request) =>
    new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          resolve(request.signal.aborted ? new Response(null, { status: 400 }) : handle(request));
        } catch (error) {
          reject(error);
        }
      });
    }),
);

export type Handle = (request: Request) => Response | Promise<Response>;

/** The argument of Elysia's `wrap`. */
type HigherOrder = Parameters<AnyElysia["wrap"]>[0];

/** Turns a function that replaces the handler of all requests into the argument of Elysia's `wrap`. */
export function wrapper(replace: (handle: Handle) => Handle): HigherOrder {
  // Guarantee: Elysia passes its request handler and calls the returned function with the request only.
  // Elysia's type for both is `Function`.
  return replace as unknown as HigherOrder;
}
