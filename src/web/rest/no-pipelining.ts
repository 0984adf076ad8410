import { wrapper } from "./wrap.ts";

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
