import type { AnyElysia } from "elysia";

type Handle = (request: Request) => Response | Promise<Response>;

/** The argument of Elysia's `wrap`. */
type HigherOrder = Parameters<AnyElysia["wrap"]>[0];

const laterTurn = (handle: Handle) => (request: Request) =>
  new Promise<Response>((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(handle(request));
      } catch (error) {
        reject(error);
      }
    });
  });

/**
 * Handles every request one turn of the event loop after it arrived. Bun closes a connection that sends a request
 * while the previous one has no response (RFC 9112 section 9.3.2 lets it). Without the turn, requests that need no
 * I/O are answered at once, so one connection with pipelined requests would keep all others waiting.
 */
// Guarantee: Elysia passes its request handler and calls the returned function with the request only.
// Elysia's type for both is `Function`.
export const noPipelining = laterTurn as unknown as HigherOrder;
